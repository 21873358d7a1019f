package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Policy is a compiled document: immutable, and safe for use by many
// goroutines. The zero value denies everything.
type Policy struct {
	hash      string
	canonical []byte
	document  Document
	names     map[Rank]string
	scopes    map[string]*compiledScope
	overrides byGlob[ToolRule]
	kills     byGlob[struct{}]
	isSelf    bool // requesters may approve
	clearance []compiledClearance
	rules     []compiledRule
}

type compiledScope struct {
	tools nameSet
	caps  byGlob[Rank]
}

type compiledRule struct {
	ask  AskFor
	when compiledWhen
}

type compiledWhen struct {
	impact    Rank // holds at this impact and above
	external  *bool
	isAnyTool bool
	tools     nameSet
}

// Compile checks a document and precomputes what Decide needs. The error is an
// *InvalidError with every issue; nothing is repaired in silence.
func Compile(d Document) (*Policy, error) {
	if issues := Check(d); len(issues) > 0 {
		return nil, &InvalidError{Issues: issues}
	}
	doc := completed(d)
	p := &Policy{
		canonical: Canonical(d),
		document:  doc,
		names:     make(map[Rank]string, len(doc.Intents)),
		scopes:    make(map[string]*compiledScope, len(doc.Scopes)),
		overrides: newByGlob(doc.Tools),
		kills:     newNameSet(doc.KillSwitches).byGlob,
		isSelf:    doc.Approvals.Self == selfAllowed,
		clearance: compileClearance(doc.Clearance),
		rules:     compileRules(doc.Approvals.Rules),
	}
	sum := sha256.Sum256(p.canonical)
	p.hash = "sha256:" + hex.EncodeToString(sum[:])
	for name, rank := range doc.Intents { // order-free: each rank has one name (Check)
		p.names[rank] = name
	}
	for name, scope := range doc.Scopes { // order-free: fills a map
		p.scopes[name] = &compiledScope{tools: newNameSet(scope.Tools), caps: newByGlob(scope.Caps)}
	}
	return p, nil
}

// compileRules turns absent rules into the defaults of P17: a call asks when it
// ranks at override, as every call does that acts outside (requirements §23.6).
func compileRules(rules []ApprovalRule) []compiledRule {
	if rules == nil {
		ask := AskFor{Rule: RuleDefault, Per: perCall, Quorum: defaultQuorum, Roles: []string{defaultRole}, ExpiresS: defaultExpiresS}
		return []compiledRule{{ask: ask, when: compiledWhen{impact: Override, isAnyTool: true}}}
	}
	out := make([]compiledRule, len(rules))
	for i, rule := range rules {
		out[i] = compiledRule{
			ask:  AskFor{Rule: rule.ID, Per: rule.Per, Quorum: rule.Quorum, Roles: rule.Roles, ExpiresS: rule.ExpiresS},
			when: compileWhen(rule.When),
		}
	}
	return out
}

func compileWhen(when When) compiledWhen {
	out := compiledWhen{external: when.External, isAnyTool: when.Tools == nil, tools: newNameSet(when.Tools)}
	if when.ImpactAtLeast != nil {
		out.impact = *when.ImpactAtLeast
	}
	return out
}

// Load compiles what Canonical wrote: a policy that a run pinned (P29). The
// error says when the bytes are no document, or one that does not compile.
func Load(canonical []byte) (*Policy, error) {
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.DisallowUnknownFields()
	var d Document
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("read policy document: %w", err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("read policy document: more than one value")
	}
	return Compile(d)
}

// Hash names the policy: "sha256:" and hex over Canonical.
func (p *Policy) Hash() string { return p.hash }

// Canonical is a copy of the bytes that Hash is over.
func (p *Policy) Canonical() []byte { return bytes.Clone(p.canonical) }

// Document is a copy of the document with what it left open filled in.
func (p *Policy) Document() Document { return completed(p.document) }

// SelfApproval says whether a requester may approve their own call (P16).
func (p *Policy) SelfApproval() bool { return p.isSelf }

// RankOf is the rank of an intent's name; false when the registry has no such
// name (R45).
func (p *Policy) RankOf(intent string) (Rank, bool) {
	rank, ok := p.document.Intents[intent]
	return rank, ok
}

// NameOf is the registry's name of a rank, or its number where it has none.
func (p *Policy) NameOf(rank Rank) string {
	if name, ok := p.names[rank]; ok {
		return name
	}
	return rank.Name()
}

// InScope says whether the scopes together grant a tool that no kill switch
// stops: what a planner may see (R48).
func (p *Policy) InScope(scopes []string, tool string) bool {
	isStopped := false
	p.kills.each(tool, func(string, struct{}) { isStopped = true })
	reached := p.reach(scopes, tool)
	return !isStopped && reached.isGranted && !reached.isUnknown
}
