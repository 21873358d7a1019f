package model

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"sluice/engine"
)

// Prompts are files with their version in the name: a changed prompt is a new
// file, and what a run used can be found by its hash.
//
//go:embed prompts
var files embed.FS

const promptVersion = "v1"

// prompts are the texts of one version.
type prompts struct {
	planner, reflection, again      string
	plannerSchema, reflectionSchema json.RawMessage
	name                            string // "prompts/v1:" and the start of their hash
}

func loadPrompts() (*prompts, error) {
	var p prompts
	sum := sha256.New()
	for _, file := range []struct {
		name string
		into *string
	}{{"planner", &p.planner}, {"reflection", &p.reflection}, {"again", &p.again}} {
		raw, err := files.ReadFile("prompts/" + file.name + "." + promptVersion + ".txt")
		if err != nil {
			return nil, err
		}
		sum.Write(raw)
		*file.into = string(raw)
	}
	for _, file := range []struct {
		name string
		into *json.RawMessage
	}{{"planner", &p.plannerSchema}, {"reflection", &p.reflectionSchema}} {
		raw, err := files.ReadFile("prompts/" + file.name + "." + promptVersion + ".json")
		if err != nil {
			return nil, err
		}
		var flat bytes.Buffer
		if err := json.Compact(&flat, raw); err != nil {
			return nil, err
		}
		sum.Write(flat.Bytes())
		*file.into = flat.Bytes()
	}
	p.name = "prompts/" + promptVersion + ":" + hex.EncodeToString(sum.Sum(nil))[:12]
	return &p, nil
}

// againBytesMax bounds an answer that is shown to its model again.
const againBytesMax = 32 << 10

// planning is the prompt of a Propose: the same for the same question, whatever
// the run around it is (R41).
func (p *prompts) planning(c *engine.Propose, tools []string) []Message {
	var b strings.Builder
	section(&b, "tools", strings.Join(tools, "\n"))
	section(&b, "goal", quoted(c.Goal))
	if len(c.Steps) > 0 || len(c.Records) > 0 || c.Note != "" {
		section(&b, "steps_done", strings.Join(c.Steps, ", "))
		section(&b, "data", strings.Join(lines(c.Records), "\n"))
		section(&b, "missing", quoted(c.Note))
		b.WriteString("Plan only the new steps that are still needed. New steps have new ids and may refer to steps_done.\n")
	}
	return p.repeated([]Message{{System, p.planner}, {User, b.String()}}, c.Again)
}

// reflecting is the prompt of a Conclude: goal and records, nothing else.
func (p *prompts) reflecting(c *engine.Conclude) []Message {
	observed := make(map[string]string, len(c.Steps))
	for i := range c.Steps {
		observed[c.Steps[i].Node] = c.Steps[i].Observation
	}
	found := lines(c.Records)
	for i, line := range found {
		var head struct{ Step string }
		if json.Unmarshal([]byte(line), &head) == nil && observed[head.Step] != "" {
			found[i] = `{"observation":` + quoted(observed[head.Step]) + `,"found":` + line + `}`
		}
	}
	var b strings.Builder
	section(&b, "goal", quoted(c.Goal))
	section(&b, "data", strings.Join(found, "\n"))
	var open []string
	for _, u := range c.Unplanned {
		open = append(open, quoted(u.Clause))
	}
	if len(open) > 0 {
		section(&b, "not_planned", strings.Join(open, "\n"))
	}
	return p.repeated([]Message{{System, p.reflection}, {User, b.String()}}, c.Again)
}

// repeated adds answers that could not be used, each with its error word for
// word and last (V20).
func (p *prompts) repeated(messages []Message, again []engine.Again) []Message {
	for _, a := range again {
		messages = append(messages, Message{Assistant, middleCut(a.Output, againBytesMax)}, Message{User, p.again + a.Error})
	}
	return messages
}

// section writes one delimited part. No content can end it: the sign that starts
// a delimiter is escaped in all of them.
func section(b *strings.Builder, name, content string) {
	b.WriteString("<" + name + ">\n")
	if content != "" {
		b.WriteString(strings.ReplaceAll(content, "<", `\u003c`) + "\n")
	}
	b.WriteString("</" + name + ">\n")
}

// quoted writes a text as a JSON string.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return `""`
	}
	return strings.TrimRight(b.String(), "\n")
}

// lines gives records as the core wrote and bounded them (R42, P24).
func lines(records [][]byte) []string {
	list := make([]string, len(records))
	for i, r := range records {
		list[i] = string(r)
	}
	return list
}

// middleCut keeps the head and the tail of a text.
func middleCut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit*2/3], text[len(text)-limit/3:]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}

// sorted gives the keys of a set in order.
func sorted[V any](set map[string]V) []string {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
