package template

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
)

// Limits on a template.
const (
	DocumentBytesMax = 1 << 20
	TemplatesMax     = 500 // names, each in any number of versions
	SlotsMax         = 16
	MatchMax         = 20
	TitleMax         = 120   // characters
	DescriptionMax   = 4_000 // characters
	PhraseMax        = 200   // characters
	EnumMax          = 100
	PatternMax       = 500       // bytes
	ValueBytesMax    = 64 << 10  // of one slot's value as JSON
	ValuesBytesMax   = 256 << 10 // of all of them
)

// Format is the template form this package writes.
const Format = 1

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	slotForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

// Template is a plan with slots.
type Template struct {
	Format      int        `json:"format"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Phrases     []string   `json:"match"` // phrases of goals, with {slot}
	Slots       []Slot     `json:"slots"`
	Plan        *plan.Plan `json:"plan"`
	// Untrusted are pointers of parameters whose values a model wrote: nobody knows
	// what it had read before, and keeping a plan does not make them trusted (P20).
	Untrusted []string `json:"untrusted,omitempty"`

	patterns []*regexp.Regexp // by slot, nil without one
}

// Type of a slot's value.
type Type string

// The closed set of types.
const (
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
)

// Slot is one named gap. Min and Max bound numbers, and the length of strings in characters.
type Slot struct {
	Name        string            `json:"name"`
	Type        Type              `json:"type"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	Pattern     string            `json:"pattern,omitempty"` // RE2, the whole string
	Min         *float64          `json:"min,omitempty"`
	Max         *float64          `json:"max,omitempty"`
}

// Problem is one thing wrong with a template or with values for it (P41).
type Problem struct {
	Pointer string `json:"pointer"` // RFC 6901 into what was sent
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Error implements error.
func (p Problem) Error() string { return p.Pointer + ": " + p.Message }

type problems []Problem

func (p *problems) add(pointer, message, fix string) {
	*p = append(*p, Problem{Pointer: pointer, Message: message, Fix: fix})
}

// Parse reads a template document and checks everything that needs no catalogue.
func Parse(doc []byte) (*Template, []Problem) {
	var found problems
	if len(doc) > DocumentBytesMax {
		found.add("", fmt.Sprintf("The document has %d bytes, at most %d are allowed.", len(doc), DocumentBytesMax), "Shorten it.")
		return nil, found
	}
	if _, err := plan.Canonical(doc); err != nil {
		found.add("", "The document is not usable JSON: "+strings.TrimPrefix(err.Error(), "canonicalise value: ")+".", "Send one JSON object without duplicate keys.")
		return nil, found
	}
	var wire struct {
		Template
		Plan json.RawMessage `json:"plan"`
	}
	if err := strict(doc, &wire); err != nil {
		found.add("", "The document has the wrong shape: "+err.Error()+".", "Compare it with the documented form.")
		return nil, found
	}
	t := wire.Template
	t.readPlan(wire.Plan, &found)
	t.checkWords(&found)
	t.checkSlots(&found)
	if t.Plan != nil {
		t.checkPlaces(&found)
	}
	t.checkPhrases(&found)
	if len(found) > 0 {
		return nil, found
	}
	return &t, nil
}

func (t *Template) readPlan(raw json.RawMessage, found *problems) {
	var form struct {
		Format int `json:"format"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &form) != nil || form.Format != plan.Format {
		found.add("/plan", "A template needs a plan of form 1.", `Send the plan with "format": 1.`)
		return
	}
	p, findings := parseGuards(raw)
	for _, f := range findings {
		if f.Severity == plan.Error {
			found.add("/plan"+f.Pointer, f.Message, f.Fix)
		}
	}
	t.Plan = p
}

// parseGuards reads a plan whose guards may compare with slots: an order wants a
// number or a string, so one stands in while the form is read.
func parseGuards(raw json.RawMessage) (*plan.Plan, []plan.Finding) {
	var doc map[string]any
	if decodeNumbers(raw, &doc) != nil {
		return plan.Parse(raw)
	}
	kept := map[int]json.RawMessage{}
	steps, _ := doc["steps"].([]any)
	for i := range steps {
		step, _ := steps[i].(map[string]any)
		guard, _ := step["guard"].(map[string]any)
		value, _ := guard["value"].(map[string]any)
		if _, is := value[slotKey]; !is {
			continue
		}
		if held, err := marshal(value); err == nil {
			kept[i], guard["value"] = held, json.Number("0")
		}
	}
	if len(kept) == 0 {
		return plan.Parse(raw)
	}
	stood, err := marshal(doc)
	if err != nil {
		return plan.Parse(raw)
	}
	p, findings := plan.Parse(stood)
	if p == nil {
		return nil, findings
	}
	for i, held := range kept { // order-free: each sets its own step
		if g := p.Steps[i].Guard; g != nil {
			g.Value = held
		}
	}
	return p, findings
}

func (t *Template) checkWords(found *problems) {
	if t.Format != Format {
		found.add("/format", "The format is not 1.", `Write "format": 1.`)
	}
	if !nameForm.MatchString(t.Name) {
		found.add("/name", "The name "+strconv.Quote(t.Name)+" is not usable.", "Use 1 to 64 lower-case letters, digits and hyphens, a letter first.")
	}
	if n := utf8.RuneCountInString(t.Title); n == 0 || n > TitleMax {
		found.add("/title", fmt.Sprintf("A title has 1 to %d characters, this has %d.", TitleMax, n), "Say in a few words what it does.")
	}
	if utf8.RuneCountInString(t.Description) > DescriptionMax {
		found.add("/description", fmt.Sprintf("The description is longer than %d characters.", DescriptionMax), "Shorten it.")
	}
	if len(t.Phrases) > MatchMax {
		found.add("/match", fmt.Sprintf("There are %d phrases, at most %d are allowed.", len(t.Phrases), MatchMax), "Leave some out.")
	}
}

func (t *Template) checkSlots(found *problems) {
	if len(t.Slots) > SlotsMax {
		found.add("/slots", fmt.Sprintf("There are %d slots, at most %d are allowed.", len(t.Slots), SlotsMax), "Make some of them fixed values.")
		return
	}
	t.patterns = make([]*regexp.Regexp, len(t.Slots))
	for i := range t.Slots {
		t.checkSlot(i, found)
	}
}

func (t *Template) checkSlot(i int, found *problems) {
	s := &t.Slots[i]
	at := "/slots/" + strconv.Itoa(i)
	if !slotForm.MatchString(s.Name) {
		found.add(at+"/name", "The slot name "+strconv.Quote(s.Name)+" is not usable.", "Use 1 to 32 lower-case letters, digits and underscores, a letter first.")
	}
	if t.index(s.Name) != i {
		found.add(at+"/name", "There are two slots "+s.Name+".", "Name each slot once.")
	}
	if !slices.Contains([]Type{String, Integer, Number, Boolean}, s.Type) {
		found.add(at+"/type", "The type "+strconv.Quote(string(s.Type))+" is none of string, integer, number and boolean.", "Use one of the four.")
		return
	}
	if len(s.Pattern) > PatternMax || s.Pattern != "" && s.Type != String {
		found.add(at+"/pattern", fmt.Sprintf("A pattern has at most %d bytes and is for strings.", PatternMax), "Shorten it, or leave it out.")
	} else if s.Pattern != "" {
		var err error
		if t.patterns[i], err = regexp.Compile("^(?:" + s.Pattern + ")$"); err != nil {
			found.add(at+"/pattern", "The pattern cannot be read.", "Write a regular expression of the RE2 kind.")
			return
		}
	}
	if len(s.Enum) > EnumMax {
		found.add(at+"/enum", fmt.Sprintf("There are %d choices, at most %d are allowed.", len(s.Enum), EnumMax), "Use a pattern or limits.")
	}
	for k, v := range s.Enum {
		if why := s.typed(v); why != "" {
			found.add(at+"/enum/"+strconv.Itoa(k), why, "Make every choice a "+string(s.Type)+".")
		}
	}
	if s.Default != nil {
		if why := t.valueProblem(i, s.Default); why != "" {
			found.add(at+"/default", why, "Give a default that the slot itself would take, or none.")
		}
	}
}

// index gives a slot by name, or -1.
func (t *Template) index(name string) int {
	return slices.IndexFunc(t.Slots, func(s Slot) bool { return s.Name == name })
}

// Canonical is the document in one form of bytes, and its hash.
func (t *Template) Canonical() (doc []byte, hash string, err error) {
	raw, err := marshal(t)
	if err != nil {
		return nil, "", err
	}
	if doc, err = plan.Canonical(raw); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(doc)
	return doc, "sha256:" + hex.EncodeToString(sum[:]), nil
}
