package policy

// What an approval asks for where a rule states less, and what the defaults of
// P17 ask for (requirements §23.2: 24 hours).
const (
	defaultQuorum   = 1
	defaultExpiresS = 86_400
	defaultRole     = "approver"
	perCall         = "call"
)

// Default is the policy document of a first start (P16): a single-operator
// install, so whoever asks may also approve, and every override call asks.
func Default() Document {
	override := Override
	return Document{
		Version: DocumentVersion,
		Intents: defaultIntents(),
		Scopes: map[string]Scope{"default": {
			Tools: []string{"sysinfo", "disk_usage", "net_info", "process_list", "env_list", "file.*", "git.*", "compute", "shell"},
			Caps:  map[string]Rank{"shell": Operate},
		}},
		Tools: map[string]ToolRule{"file.delete": {Impact: &override}},
		Approvals: Approvals{
			Self: selfAllowed,
			Rules: []ApprovalRule{{
				ID: "A1", When: When{ImpactAtLeast: &override}, Per: perCall,
				Quorum: defaultQuorum, Roles: []string{defaultRole}, ExpiresS: defaultExpiresS,
			}},
		},
		KillSwitches: []string{},
	}
}

func defaultIntents() map[string]Rank {
	return map[string]Rank{Observe.Name(): Observe, Operate.Name(): Operate, Override.Name(): Override}
}

// completed is a deep copy of d with what it leaves open filled in, so that a
// compiled policy shares nothing with the caller and two documents that mean
// the same have one hash.
func completed(d Document) Document {
	out := d
	out.Intents = cloneMap(d.Intents)
	if d.Intents == nil {
		out.Intents = defaultIntents()
	}
	out.Scopes = make(map[string]Scope, len(d.Scopes))
	for name, scope := range d.Scopes { // order-free: fills a map
		out.Scopes[name] = Scope{Tools: append([]string{}, scope.Tools...), Caps: cloneMap(scope.Caps)}
	}
	out.Tools = cloneMap(d.Tools)
	for name, rule := range out.Tools { // order-free: replaces each entry
		rule.Impact = clonePointer(rule.Impact)
		out.Tools[name] = rule
	}
	out.Clearance = completedClearance(d.Clearance)
	out.Approvals.Rules = completedRules(d.Approvals.Rules)
	out.KillSwitches = append([]string{}, d.KillSwitches...)
	return out
}

// completedRules keeps nil apart from empty: nil means the defaults of P17,
// empty means that nothing asks.
func completedRules(rules []ApprovalRule) []ApprovalRule {
	if rules == nil {
		return nil
	}
	out := make([]ApprovalRule, len(rules))
	for i, rule := range rules {
		rule.When = copyWhen(rule.When)
		rule.Roles = cloneList(rule.Roles)
		if rule.Roles == nil {
			rule.Roles = []string{defaultRole}
		}
		if rule.Per == "" {
			rule.Per = perCall
		}
		if rule.Quorum == 0 {
			rule.Quorum = defaultQuorum
		}
		if rule.ExpiresS == 0 {
			rule.ExpiresS = defaultExpiresS
		}
		out[i] = rule
	}
	return out
}

func cloneMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return nil
	}
	out := make(map[string]V, len(m))
	for key, value := range m { // order-free: fills a map
		out[key] = value
	}
	return out
}

func cloneList(list []string) []string {
	if list == nil {
		return nil
	}
	return append([]string{}, list...)
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	value := *p
	return &value
}
