package planner

import (
	"regexp"
	"strings"
)

// Arithmetic is planned only where the whole goal is one calculation of written
// numbers: anything else that sounds like it may mean something else.
var (
	calculation = regexp.MustCompile(`(?i)^(?:(?:what(?:'s|’s|s| is| are)|how much (?:is|are|makes?)|calculate|compute|work out|evaluate)\s+)?` +
		`(` + operand + `(?:\s*` + operators + `\s*` + operand + `){1,20})\s*=?\s*[?.!]*$`)
	ordered  = regexp.MustCompile(`(?i)^(add|multiply|divide|subtract)\s+(` + operand + `)\s+(and|by|to|from|with)\s+(` + operand + `)\s*[?.!]*$`)
	operator = regexp.MustCompile(`(?i)` + operators)
)

const (
	operand   = `-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?`
	operators = `(?: \+ | - | \* | x | × | / | ÷ |\+|\*|×|÷|(?:\s(?:plus|minus|times|multiplied by|divided by)\s))`
)

var signs = map[string]string{"plus": "+", "add": "+", "minus": "-", "subtract": "-", "times": "*", "x": "*", "×": "*", "multiplied by": "*", "multiply": "*",
	"÷": "/", "divided by": "/", "divide": "/"}

// linking are the words that go with a verb of arithmetic.
var linking = map[string]string{"add": "and to with", "multiply": "and by with", "divide": "by", "subtract": "from"}

// program turns a goal that is one calculation into an expression; "" if it is none.
func program(goal string) string {
	goal = strings.Join(strings.Fields(goal), " ")
	if found := ordered.FindStringSubmatch(goal); found != nil {
		verb, first, link, second := strings.ToLower(found[1]), found[2], strings.ToLower(found[3]), found[4]
		if !strings.Contains(" "+linking[verb]+" ", " "+link+" ") {
			return ""
		}
		if link == "from" {
			first, second = second, first
		}
		return first + " " + signs[verb] + " " + second
	}
	found := calculation.FindStringSubmatch(goal)
	if found == nil {
		return ""
	}
	return operator.ReplaceAllStringFunc(found[1], func(sign string) string {
		sign = strings.ToLower(strings.TrimSpace(sign))
		if written := signs[sign]; written != "" {
			sign = written
		}
		return " " + sign + " "
	})
}

// calculate plans a goal that is one calculation.
func (p *Planner) calculate(goal string) (Proposal, bool) {
	code := program(goal)
	if _, is := p.Catalog.Lookup("compute"); !is || code == "" {
		return Proposal{}, false
	}
	b := newBuilder(p, goal)
	b.draft.add(spec{tool: "compute", name: "compute", chosen: map[string]any{"code": code}})
	return b.proposal(), true
}
