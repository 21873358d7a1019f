package policy

import (
	"slices"
	"strings"
)

// Authorise decides a call at dispatch and mints its Grant. Both the policy
// that the run pinned and the current one must allow (P19); documents are never
// compared, each decides by itself and the stricter answer holds. Without an
// allow the Grant is the zero value.
func Authorise(pinned, current *Policy, c Call) (Grant, Decision) {
	d := DecideBoth(pinned, current, c)
	if d.Outcome != Allow {
		return Grant{}, d
	}
	if why := whyNoCall(&c); why != "" {
		d.deny(StageInput, RuleInput, why)
		return Grant{}, d
	}
	return mint(&c, pinned.hash), d
}

// DecideBoth answers as Authorise would, and mints nothing: for those who ask
// ahead of a dispatch.
func DecideBoth(pinned, current *Policy, c Call) Decision {
	d := Decide(pinned, c)
	if !samePolicy(pinned, current) {
		d = stricter(d, Decide(current, c))
	}
	return d
}

func samePolicy(a, b *Policy) bool {
	return a == b || a != nil && b != nil && a.hash == b.hash
}

// whyNoCall says what a call lacks to be performed, "" when nothing. Such calls
// can be decided, in a check or a dry run, but hold nothing to open a tool with.
func whyNoCall(c *Call) string {
	if c.Partial {
		return "Some parameters are not resolved yet."
	}
	if c.Run == "" || c.Node == "" || c.Attempt < 1 {
		return "The call belongs to no attempt of a run."
	}
	for i := 1; i < len(c.Params); i++ {
		if strings.Compare(c.Params[i-1].Name, c.Params[i].Name) >= 0 {
			return "The parameters are not sorted by name without duplicates."
		}
	}
	return ""
}

// stricter merges what two policies say of one call. It keeps the hash of the
// pinned policy, which the run is recorded under, and names the current one
// where that did not allow.
func stricter(pinned, current Decision) Decision {
	d := pinned
	if severity(current.Outcome) > severity(pinned.Outcome) {
		d.Outcome, d.Stage = current.Outcome, current.Stage
	}
	if current.Impact > d.Impact {
		d.Impact, d.ImpactName = current.Impact, current.ImpactName
	}
	d.Limit = min(pinned.Limit, current.Limit)
	d.Rules = union(pinned.Rules, current.Rules)
	d.Reasons = union(pinned.Reasons, current.Reasons)
	if current.Outcome != Allow {
		d.note(RuleCurrent, currentWords+display(current.Policy)+" decides "+string(current.Outcome)+".")
	}
	d.Asks, d.Clear = []AskFor{}, nil
	if d.Outcome == Ask {
		d.Asks, d.Clear = unionAsks(pinned.Asks, current.Asks), unionClear(pinned.Clear, current.Clear)
	}
	if len(d.Clear) > 0 {
		d.Stage = StageClearance // whichever of the two wants it
	}
	return d
}

const currentWords = "The current policy "

// CurrentHash is the hash of the policy in force at a decision that it made
// stricter than the run's own, "" where it did not.
func CurrentHash(d *Decision) string {
	for _, reason := range d.Reasons {
		if rest, isIt := strings.CutPrefix(reason, currentWords); isIt {
			hash, _, _ := strings.Cut(rest, " ")
			return hash
		}
	}
	return ""
}

// severity orders outcomes: deny beats ask beats allow (P16).
func severity(o Outcome) int {
	switch o {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func unionAsks(a, b []AskFor) []AskFor {
	out := slices.Clone(a)
	for _, ask := range b {
		isSame := func(other AskFor) bool {
			return ask.Rule == other.Rule && ask.Per == other.Per && ask.Quorum == other.Quorum &&
				ask.ExpiresS == other.ExpiresS && slices.Equal(ask.Roles, other.Roles)
		}
		if !slices.ContainsFunc(out, isSame) {
			out = append(out, ask)
		}
	}
	return out
}
