package planner

import (
	"regexp"
	"strconv"
	"strings"
)

// Calculations in words: percentages inside of sums, powers, brackets, averages.
// Every word of the goal has to be part of it, or it is no calculation.
var (
	asksNumber = regexp.MustCompile(`(?i)^(?:please\s+)?(?:what(?:'s|’s|s| is| are)|how much (?:is|are|makes?)|(?:calculate|compute|work out|evaluate)(?:\s+for me)?)\s+(.+?)\s*=?\s*[?.!]*$`)
	ofMany     = regexp.MustCompile(`(?i)^(?:the\s+)?(average|mean|sum|total|product)\s+of\s+(` + operand + `(?:\s*,\s+` + operand + `)*\s*(?:,\s*)?(?:\s+and\s+|,\s+)` + operand + `)$`)
	apart      = regexp.MustCompile(`(?i)^(?:the\s+)?difference\s+between\s+(` + operand + `)\s+and\s+(` + operand + `)$`)
	oneNumber  = regexp.MustCompile(`^` + operand)
	oneSign    = regexp.MustCompile(`(?i)^\s*(?:(\+|-|\*\*?|×|÷|/|\^)|(plus|minus|times|over|multiplied by|divided by|to the power of|x)\b)\s*`)
	shareOf    = regexp.MustCompile(`(?i)^\s*(?:%|percent|per cent)\s+of\s+`)
	powerWord  = regexp.MustCompile(`(?i)^\s+(squared|cubed)\b`)
	halfOf     = regexp.MustCompile(`(?i)^(half|a third|a quarter|twice|double)\s+(?:of\s+)?`)
)

var (
	halves     = map[string]string{"half": "0.5 * ", "a third": "1 / 3 * ", "a quarter": "0.25 * ", "twice": "2 * ", "double": "2 * "}
	wordSigns  = map[string]string{"over": "/", "to the power of": "^", "**": "^"}
	powerMax   = 30 // the language has no powers: they are written out
	nestingMax = 8
)

// inWords turns such a goal into an expression; "" if it is none.
func inWords(goal string) string {
	found := asksNumber.FindStringSubmatch(goal)
	if found == nil {
		return ""
	}
	text := found[1]
	if many := ofMany.FindStringSubmatch(text); many != nil {
		return folded(strings.ToLower(many[1]), numbersIn(many[2]))
	}
	if two := apart.FindStringSubmatch(text); two != nil {
		return plainNumber(two[1]) + " - " + plainNumber(two[2])
	}
	s := sum{rest: text}
	code := s.expression(0)
	if strings.TrimSpace(s.rest) != "" || s.signs == 0 {
		return ""
	}
	return code
}

func folded(how string, list []string) string {
	switch how {
	case "product":
		return strings.Join(list, " * ")
	case "average", "mean":
		return "(" + strings.Join(list, " + ") + ") / " + strconv.Itoa(len(list))
	}
	return strings.Join(list, " + ")
}

// sum reads one expression from the left; what it cannot read stays in rest.
type sum struct {
	rest  string
	signs int // at least one, or there is nothing to compute
}

func (s *sum) expression(depth int) string {
	code := s.term(depth)
	for code != "" {
		found := oneSign.FindStringSubmatch(s.rest)
		if found == nil {
			return code
		}
		sign := strings.ToLower(found[1] + found[2])
		s.rest = s.rest[len(found[0]):]
		s.signs++
		next := s.term(depth)
		if next == "" {
			return ""
		}
		if code = joined(code, signOf(sign), next); code == "" {
			s.rest = "?"
		}
	}
	return ""
}

func signOf(sign string) string {
	if to := wordSigns[sign]; to != "" {
		return to
	}
	if to := signs[sign]; to != "" {
		return to
	}
	return sign
}

// joined writes a power out; it stands only behind a plain number.
func joined(left, sign, right string) string {
	if sign != "^" {
		return left + " " + sign + " " + right
	}
	base := left[strings.LastIndexByte(left, ' ')+1:]
	n, err := strconv.Atoi(right)
	if err != nil || n < 1 || n > powerMax || strings.HasSuffix(base, ")") {
		return ""
	}
	return left[:len(left)-len(base)] + "(" + strings.TrimSuffix(strings.Repeat(base+" * ", n), " * ") + ")"
}

func (s *sum) term(depth int) string {
	if found := halfOf.FindStringSubmatch(s.rest); found != nil && depth < nestingMax {
		s.rest = s.rest[len(found[0]):]
		s.signs++
		return s.wrapped(halves[strings.ToLower(found[1])], depth)
	}
	if strings.HasPrefix(s.rest, "(") && depth < nestingMax {
		s.rest = strings.TrimLeft(s.rest[1:], " ")
		inner := s.expression(depth + 1)
		after, closes := strings.CutPrefix(strings.TrimLeft(s.rest, " "), ")")
		if inner == "" || !closes {
			return ""
		}
		s.rest = after
		return "(" + inner + ")"
	}
	number := oneNumber.FindString(s.rest)
	after := strings.TrimPrefix(s.rest, number)
	if number == "" || after != "" && strings.ContainsAny(after[:1], ".,0123456789:") {
		return ""
	}
	s.rest = after
	number = plainNumber(number)
	if found := shareOf.FindString(s.rest); found != "" && depth < nestingMax {
		s.rest = s.rest[len(found):]
		s.signs++
		return s.wrapped(number+" / 100 * ", depth)
	}
	if found := powerWord.FindStringSubmatch(s.rest); found != nil {
		s.rest = s.rest[len(found[0]):]
		s.signs++
		return joined(number, "^", map[string]string{"squared": "2", "cubed": "3"}[strings.ToLower(found[1])])
	}
	return number
}

// wrapped is a factor before the one term it belongs to.
func (s *sum) wrapped(factor string, depth int) string {
	if of := s.term(depth + 1); of != "" {
		return "(" + factor + of + ")"
	}
	return ""
}
