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
	ordered = regexp.MustCompile(`(?i)^(add|multiply|divide|subtract)\s+(` + operand + `)\s+(and|by|to|from|with)\s+(` + operand + `)\s*[?.!]*$`)
	share   = regexp.MustCompile(`(?i)^(?:(?:what(?:'s|’s|s| is)|how much is|calculate|compute|work out)\s+)?(` + operand + `)\s*(?:%|percent|per cent)\s+of\s+(` + operand + `)\s*[?.!]*$`)
	listed  = regexp.MustCompile(`(?i)^(?:add(?: up| together)?|sum(?: up)?|(?:what(?:'s|’s|s| is) the (?:sum|total) of))\s+(` + operand + `(?:,\s+` + operand + `)*(?:,?\s+and\s+` + operand + `))` +
		`(?:,?\s+(?:and|then|and then)\s+(divide|multiply)\s+(?:the sum|the total|the result|it|that)\s+by\s+(` + operand + `))?\s*[?.!]*$`)
	each     = regexp.MustCompile(operand)
	operator = regexp.MustCompile(`(?i)` + operators)
)

const (
	operand   = `-?(?:[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4}|0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?`
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
		return pair(found)
	}
	if found := share.FindStringSubmatch(goal); found != nil {
		return plainNumber(found[1]) + " * " + plainNumber(found[2]) + " / 100"
	}
	if found := listed.FindStringSubmatch(goal); found != nil {
		sum := strings.Join(numbersIn(found[1]), " + ")
		if found[2] == "" {
			return sum
		}
		return "(" + sum + ") " + signs[strings.ToLower(found[2])] + " " + plainNumber(found[3])
	}
	found := calculation.FindStringSubmatch(goal)
	if found == nil {
		return inWords(goal)
	}
	return operator.ReplaceAllStringFunc(plainNumber(found[1]), func(sign string) string {
		sign = strings.ToLower(strings.TrimSpace(sign))
		if written := signs[sign]; written != "" {
			sign = written
		}
		return " " + sign + " "
	})
}

// pair reads "subtract 3 from 10" and its like.
func pair(found []string) string {
	verb, first, link, second := strings.ToLower(found[1]), plainNumber(found[2]), strings.ToLower(found[3]), plainNumber(found[4])
	switch {
	case !strings.Contains(" "+linking[verb]+" ", " "+link+" "):
		return ""
	case link == "from":
		first, second = second, first
	}
	return first + " " + signs[verb] + " " + second
}

// plainNumber leaves out the marks between thousands.
func plainNumber(text string) string { return strings.ReplaceAll(text, ",", "") }

func numbersIn(text string) []string {
	all := each.FindAllString(text, -1)
	for i := range all {
		all[i] = plainNumber(all[i])
	}
	return all
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
