package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/engine/plan"
)

// Limits on what is offered.
const (
	candidatesMax = 60  // literals offered as slots
	offeredBytes  = 500 // of a literal that is offered
	proposedMax   = 5   // of them ticked from the start (R102)
)

// Candidate is a literal of a plan that could become a slot. Equal values under
// one parameter name are one candidate.
type Candidate struct {
	Key      string          `json:"key"`  // pointer of its first place
	Name     string          `json:"name"` // proposed
	Type     Type            `json:"type"`
	Value    json.RawMessage `json:"value"`
	Places   []string        `json:"places"`   // pointers into the plan
	Proposed bool            `json:"proposed"` // looks as if it varies from run to run
	InGoal   bool            `json:"in_goal"`
	// What the tool's schema says of it, and the slot then too.
	Description string            `json:"description,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	Min         *float64          `json:"min,omitempty"`
	Max         *float64          `json:"max,omitempty"`

	score int
	own   bounds
}

// Keep drops the steps of a plan that did not execute, with every edge to them:
// a template is what worked (R102).
func Keep(p *plan.Plan, executed func(step string) bool) *plan.Plan {
	out := *p
	out.Steps = nil
	for _, s := range p.Steps {
		if !executed(s.ID) {
			continue
		}
		s.DependsOn = slices.DeleteFunc(slices.Clone(s.DependsOn), func(id string) bool { return !executed(id) })
		if len(s.DependsOn) == 0 {
			s.DependsOn = nil
		}
		if len(s.DependsOn) < 2 {
			s.Join = ""
		}
		out.Steps = append(out.Steps, s)
	}
	return &out
}

// Candidates offers the literals of a plan as slots, bounded as their tools ask.
// Those that come from the goal's words are ticked first, then those that look
// variable; parameters that a tool reads as programs are left out.
func Candidates(p *plan.Plan, lookup func(tool string) (*plan.Tool, bool)) []Candidate {
	var list []Candidate
	for _, at := range places(p) {
		s, leafName := &p.Steps[at.step], at.param
		tool, known := lookup(s.Tool)
		if known && slices.Contains(tool.Literal, at.param) {
			continue
		}
		if at.param == "" {
			leafName = lastKey(s.Guard.Ref.Field)
		}
		leaves(at.value(p), at.pointer, leafName, func(pointer, leaf string, raw json.RawMessage) {
			c := Candidate{Key: pointer, Name: slotName(leaf), Value: raw, Places: []string{pointer}}
			if known && at.param != "" {
				c.own = boundsOf(tool, strings.Split(pointer, "/")[4:], raw)
			}
			list = addCandidate(list, p.Goal, c)
		})
	}
	if len(list) > candidatesMax {
		list = list[:candidatesMax]
	}
	for k := range list {
		b := &list[k].own
		list[k].Description, list[k].Enum, list[k].Min, list[k].Max = b.about, b.enum, b.min, b.max
	}
	propose(list)
	distinct(list)
	return list
}

// leaves gives the scalars of a value with the name nearest to each.
func leaves(raw json.RawMessage, pointer, name string, see func(pointer, name string, raw json.RawMessage)) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '{':
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) == nil {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				leaves(m[k], pointer+"/"+escape(k), k, see)
			}
		}
	case '[':
		var a []json.RawMessage
		if json.Unmarshal(raw, &a) == nil {
			for i := range a {
				leaves(a[i], pointer+"/"+strconv.Itoa(i), name, see)
			}
		}
	case 'n':
	default:
		if len(raw) <= offeredBytes {
			see(pointer, name, raw)
		}
	}
}

func addCandidate(list []Candidate, goal string, c Candidate) []Candidate {
	for k := range list {
		if list[k].Name == c.Name && bytes.Equal(list[k].Value, c.Value) {
			list[k].Places = append(list[k].Places, c.Key)
			list[k].own = list[k].own.both(c.own)
			return list
		}
	}
	c.Type = typeOf(c.Value)
	words := Words(c.Value)
	c.InGoal = has(goal, words)
	switch {
	case c.InGoal:
		c.score = 3
	case c.Type == String && strings.ContainsAny(words, "/@.") && len(words) < 120:
		c.score = 2
	case c.Type == Integer || c.Type == Number:
		c.score = 1
	}
	return append(list, c)
}

func typeOf(raw json.RawMessage) Type {
	switch raw[0] {
	case '"':
		return String
	case 't', 'f':
		return Boolean
	}
	if bytes.ContainsAny(raw, ".eE") {
		return Number
	}
	return Integer
}

// propose ticks the most likely ones.
func propose(list []Candidate) {
	left := proposedMax
	for score := 3; score > 0; score-- {
		for k := range list {
			if list[k].score == score && left > 0 {
				list[k].Proposed = true
				left--
			}
		}
	}
}

// distinct gives every candidate a name of its own.
func distinct(list []Candidate) {
	taken := map[string]bool{}
	for k := range list {
		name := list[k].Name
		for n := 2; taken[list[k].Name]; n++ {
			list[k].Name = name + "_" + strconv.Itoa(n)
		}
		taken[list[k].Name] = true
	}
}

// lastKey is the last key of a field's path.
func lastKey(field string) string {
	return field[strings.LastIndexByte(field, '.')+1:]
}

// slotName makes a usable name of a member's.
func slotName(member string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, member)
	name = strings.TrimLeft(name, "_0123456789")
	if len(name) > 28 {
		name = name[:28]
	}
	if name == "" {
		return "value"
	}
	return name
}

// Chosen is a candidate that becomes a slot.
type Chosen struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Cut makes slots of the chosen candidates: their places read {"$slot": …}, their
// values are the defaults, and the goal names them where it has their words.
func Cut(p *plan.Plan, offered []Candidate, chosen []Chosen) (*plan.Plan, []Slot, []Problem) {
	var found problems
	out := *p
	out.Steps = slices.Clone(p.Steps)
	for i := range out.Steps {
		out.Steps[i].Params = maps.Clone(out.Steps[i].Params)
	}
	slots := []Slot{}
	inGoal := map[string]string{}
	for n, ch := range chosen {
		k := slices.IndexFunc(offered, func(c Candidate) bool { return c.Key == ch.Key })
		if k < 0 {
			found.add("/slots/"+strconv.Itoa(n)+"/key", "There is no value at "+strconv.Quote(ch.Key)+" that could be a slot.", "Use a key of the candidates.")
			continue
		}
		c := &offered[k]
		for _, pointer := range c.Places {
			cutPlace(&out, pointer, ch.Name)
		}
		if c.InGoal && slotForm.MatchString(ch.Name) {
			inGoal[Words(c.Value)] = "{" + ch.Name + "}"
		}
		if ch.Description == "" {
			ch.Description = c.Description
		}
		slots = append(slots, Slot{Name: ch.Name, Type: c.Type, Description: ch.Description, Default: c.Value, Enum: c.Enum, Min: c.Min, Max: c.Max})
	}
	out.Goal = gapped(out.Goal, inGoal)
	return &out, slots, found
}

// gapped puts the names of slots where a goal has their values as whole words,
// in one pass: the longest first, and never inside what was put in.
func gapped(goal string, names map[string]string) string {
	if len(names) == 0 {
		return goal
	}
	words := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var out strings.Builder
	for at := 0; at < len(goal); {
		k := slices.IndexFunc(words, func(w string) bool { return w != "" && strings.HasPrefix(goal[at:], w) && isWhole(goal, at, at+len(w)) })
		if k < 0 {
			out.WriteByte(goal[at])
			at++
			continue
		}
		out.WriteString(names[words[k]])
		at += len(words[k])
	}
	return out.String()
}

// isWhole says whether no letter or digit goes on at either end; what has none
// itself, as the folder ".", stands between spaces.
func isWhole(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	after, _ := utf8.DecodeRuneInString(text[to:])
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.IndexFunc(text[from:to], isWord) < 0 {
		return (from == 0 || unicode.IsSpace(before)) && (to == len(text) || unicode.IsSpace(after))
	}
	return !(from > 0 && isWord(before) && isWord(first)) && !(to < len(text) && isWord(last) && isWord(after))
}

// has says whether a goal has a value's words as whole words.
func has(goal, words string) bool {
	return words != "" && gapped(goal, map[string]string{words: ""}) != goal
}

// cutPlace puts a slot at a pointer of the form /steps/N/params/NAME/…, or at a
// guard's value, /steps/N/guard/value/….
func cutPlace(p *plan.Plan, pointer, slot string) {
	parts := strings.Split(pointer, "/")
	if len(parts) < 5 {
		return
	}
	i, err := strconv.Atoi(parts[2])
	if err != nil || i < 0 || i >= len(p.Steps) {
		return
	}
	at := place{step: i, param: unescape(parts[4])}
	if parts[3] == "guard" {
		at.param = ""
	}
	var v any
	if decodeNumbers(at.value(p), &v) != nil {
		return
	}
	if out, err := marshal(cut(v, parts[5:], slot)); err == nil {
		at.set(p, out)
	}
}

func cut(v any, path []string, slot string) any {
	if len(path) == 0 {
		return map[string]any{slotKey: slot}
	}
	switch v := v.(type) {
	case map[string]any:
		k := unescape(path[0])
		v[k] = cut(v[k], path[1:], slot)
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(v) {
			v[i] = cut(v[i], path[1:], slot)
		}
	}
	return v
}

func unescape(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
