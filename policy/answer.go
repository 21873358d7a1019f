package policy

import "slices"

// Answer is what a decision comes to for whoever asked: its outcome, and who has
// still to say yes. An approval is a person's, a clearance an authority's.
type Answer struct {
	Outcome   Outcome
	Person    bool
	Authority bool
}

// Answer sums a decision up.
func (d *Decision) Answer() Answer {
	return Answer{Outcome: d.Outcome, Person: len(d.Asks) > 0, Authority: len(d.Clear) > 0}
}

// Direction is which way a change of policy goes for one call.
type Direction string

// The directions, in the order in which people want to know of them.
const (
	Looser    Direction = "looser"    // something that had to be asked or was denied is no more
	Otherwise Direction = "otherwise" // asked of somebody else
	Tighter   Direction = "tighter"
)

// Directions lists them in that order.
func Directions() []Direction { return []Direction{Looser, Otherwise, Tighter} }

// Toward says which way it goes from one answer to another that differs.
func (a Answer) Toward(b Answer) Direction {
	isMore, isLess := severity(b.Outcome) > severity(a.Outcome), severity(b.Outcome) < severity(a.Outcome)
	if !isMore && !isLess {
		isMore = b.Person && !a.Person || b.Authority && !a.Authority
		isLess = a.Person && !b.Person || a.Authority && !b.Authority
	}
	switch {
	case isLess && !isMore:
		return Looser
	case isMore && !isLess:
		return Tighter
	}
	return Otherwise
}

// String is the answer in the words of the pages.
func (a Answer) String() string {
	switch {
	case a.Outcome != Ask || !a.Authority:
		return string(a.Outcome)
	case a.Person:
		return "clearance + ask"
	}
	return "clearance"
}

// Asks names who has still to say yes, in the order in which they are asked.
func (a Answer) Asks() []string {
	var who []string
	if a.Authority {
		who = append(who, "authority")
	}
	if a.Person {
		who = append(who, "person")
	}
	return who
}

// SameAsks says whether two decisions want the same approvals of the same people
// and the same clearances. Names of rules do not matter, what they want does.
func SameAsks(a, b *Decision) bool {
	return slices.EqualFunc(a.Asks, b.Asks, func(x, y AskFor) bool {
		return x.Per == y.Per && x.Quorum == y.Quorum && x.ExpiresS == y.ExpiresS && slices.Equal(x.Roles, y.Roles)
	}) && slices.EqualFunc(a.Clear, b.Clear, func(x, y ClearFor) bool { return x.URL == y.URL && x.TimeoutS == y.TimeoutS })
}
