package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/engine/plan"
)

// Bounds on an answer.
const (
	depthMax       = 64
	findingsShown  = 12 // of a plan that cannot be read
	problemByteMax = 4 << 10
)

// bare takes away what servers without structured output put around the object:
// thoughts before it, or a fence. Inside the object nothing is forgiven.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<think>") {
		if _, after, ended := strings.Cut(text, "</think>"); ended {
			text = strings.TrimSpace(after)
		}
	}
	inner, fenced := strings.CutPrefix(text, "```")
	if inner, closed := strings.CutSuffix(inner, "```"); fenced && closed {
		return strings.TrimSpace(strings.TrimPrefix(inner, "json"))
	}
	return text
}

// strict reads one JSON object: no duplicate or unknown key, nothing behind it.
// The decoder takes keys in any case; keys are the only ones, as they are.
func strict(text string, into any, keys ...string) error {
	if err := wellFormed([]byte(text)); err != nil {
		return err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return errors.New("the answer has not the form that was asked for: it is no object")
	}
	for _, key := range sorted(given) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("the answer has not the form that was asked for: unknown field %.80q; known are %s", key, strings.Join(keys, ", "))
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the answer has not the form that was asked for: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func wellFormed(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for objects := 0; ; {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) && objects == 1 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return errors.New("the answer is empty; give one JSON object")
		}
		if err != nil {
			return fmt.Errorf("the answer is not valid JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
		}
		switch depth := d.StackDepth(); {
		case depth > depthMax:
			return fmt.Errorf("the answer is nested more than %d deep", depthMax)
		case depth == 0 && token.Kind() == '}' && objects == 0:
			objects = 1
		case depth == 0, depth == 1 && token.Kind() == '{' && objects == 1:
			return errors.New("the answer is not one JSON object and nothing else")
		}
	}
}

// proposal is a planner's answer, read.
type proposal struct {
	plan   *plan.Plan
	answer string
}

// readProposal reads a planner's answer. The error is for the model.
func readProposal(text string) (proposal, error) {
	var form struct {
		Answer *string         `json:"answer"`
		Plan   json.RawMessage `json:"plan"`
	}
	if err := strict(text, &form, "answer", "plan"); err != nil {
		return proposal{}, err
	}
	hasPlan := len(form.Plan) > 0 && string(form.Plan) != "null"
	hasAnswer := form.Answer != nil && strings.TrimSpace(*form.Answer) != ""
	switch {
	case hasPlan && hasAnswer:
		return proposal{}, errors.New(`the answer has both "answer" and "plan"; one of them must be null`)
	case hasAnswer:
		return proposal{answer: strings.TrimSpace(*form.Answer)}, nil
	case !hasPlan:
		return proposal{}, errors.New(`the answer has neither "answer" nor "plan"; give one of them`)
	}
	p, findings := plan.Parse(form.Plan)
	if p == nil {
		return proposal{}, errors.New(findingText(findings))
	}
	if len(p.Steps) == 0 {
		return proposal{}, errors.New(`the plan has no steps; give "answer" when no tool is needed`)
	}
	return proposal{plan: p}, nil
}

// findingText says errors of the form in the words of the plan's own checks.
func findingText(findings []plan.Finding) string {
	var b strings.Builder
	b.WriteString("the plan cannot be read:")
	shown := 0
	for i := range findings {
		f := &findings[i]
		if f.Severity != plan.Error || f.Policy {
			continue
		}
		if shown++; shown > findingsShown || b.Len() > problemByteMax {
			break
		}
		fmt.Fprintf(&b, "\n%s %s %s", f.Pointer, f.Message, f.Fix)
	}
	return b.String()
}

// ruling is a reflection's answer, read.
type ruling struct {
	Ruling string  `json:"ruling"`
	Answer string  `json:"answer"`
	Claims []claim `json:"claims"`
	Note   string  `json:"note"`
}

type claim struct {
	Text         string   `json:"text"`
	Observations []string `json:"observations"`
}

// readRuling reads a reflection's answer. A claim may only point to what was
// observed (R52). The error is for the model.
func readRuling(text string, observed map[string]bool) (ruling, error) {
	var r ruling
	var form struct {
		Claims []json.RawMessage `json:"claims"`
	}
	if err := strict(text, &r, "ruling", "answer", "claims", "note"); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return r, err
	}
	for i := range form.Claims {
		if err := strict(string(form.Claims[i]), &claim{}, "text", "observations"); err != nil {
			return r, fmt.Errorf("claims[%d]: %w", i, err)
		}
	}
	switch {
	case r.Ruling != "conclude" && r.Ruling != "replan":
		return r, errors.New(`"ruling" must be "conclude" or "replan"`)
	case r.Ruling == "conclude" && strings.TrimSpace(r.Answer) == "":
		return r, errors.New(`"answer" is empty; with "conclude" it holds the final answer`)
	case r.Ruling == "replan" && strings.TrimSpace(r.Note) == "":
		return r, errors.New(`"note" is empty; with "replan" it says what is missing`)
	}
	for i, c := range r.Claims {
		if strings.TrimSpace(c.Text) == "" {
			return r, fmt.Errorf("claims[%d] has no text", i)
		}
		for _, o := range c.Observations {
			if !observed[o] {
				return r, fmt.Errorf("claims[%d] names the observation %.80q, which is not among the data", i, o)
			}
		}
	}
	return r, nil
}
