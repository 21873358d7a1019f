package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/policy"
)

// Tool is a tool's declaration: what planner, compiler and gate know of it
// (design §8). It carries no way to call the tool.
type Tool struct {
	policy.Tool
	Summary string          // one line for indexes, at most 120 bytes
	Input   json.RawMessage // JSON Schema 2020-12 of the parameters, an object
	Output  json.RawMessage // JSON Schema of the output; nil means "not an error"
	Trusted []string        // output fields (dot paths) declared trusted (P20)
	// Literal names parameters that are read as a program: their value stands in
	// the plan where people see it, and comes from no other step (C10).
	Literal []string
	Timeout time.Duration // per attempt
	Bytes   int           // output cap, bytes
}

// Bounds on a declaration.
const (
	summaryBytesMax  = 120
	toolNameBytesMax = 128
)

// ErrUnknownTool means that the catalogue has no tool of that name (R48).
var ErrUnknownTool = errors.New("no such tool in the catalogue")

// Catalog is the set of tools that plans are compiled against. It never changes;
// its hash pins it in a run (P29).
type Catalog struct {
	tools     map[string]*entry
	names     []string
	canonical []byte
	hash      string
}

// entry is a tool with its schemas compiled once.
type entry struct {
	Tool
	input  *schema // nil: declared none (C12)
	output *schema
}

// NewCatalog compiles the declarations. An error names the first tool, by name,
// that is not well declared.
func NewCatalog(tools []Tool) (*Catalog, error) {
	c := &Catalog{tools: make(map[string]*entry, len(tools))}
	for i := range tools {
		name := tools[i].Name
		if _, isTaken := c.tools[name]; isTaken {
			return nil, fmt.Errorf("declare tool %q: the name is taken", name)
		}
		e, err := declare(tools[i])
		if err != nil {
			return nil, fmt.Errorf("declare tool %q: %w", name, err)
		}
		c.tools[name] = e
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	if err := c.describe(); err != nil {
		return nil, err
	}
	return c, nil
}

func declare(t Tool) (*entry, error) {
	t.Sinks, t.Trusted, t.Literal = slices.Clone(t.Sinks), slices.Clone(t.Trusted), slices.Clone(t.Literal)
	switch {
	case t.Name == "" || len(t.Name) > toolNameBytesMax:
		return nil, fmt.Errorf("a name has 1 to %d bytes", toolNameBytesMax)
	case t.Effect != policy.Read && t.Effect != policy.Idempotent && t.Effect != policy.Once:
		return nil, fmt.Errorf("there is no effect %q", t.Effect)
	case len(t.Summary) > summaryBytesMax || strings.ContainsAny(t.Summary, "\r\n"):
		return nil, fmt.Errorf("a summary is one line of at most %d bytes", summaryBytesMax)
	case t.Pure && (t.Effect != policy.Read || t.Impact != policy.Observe || t.External):
		// R5: an act cannot hide inside a transform.
		return nil, errors.New("a pure tool reads nothing outside and changes nothing")
	case t.Timeout < 0 || t.Bytes < 0:
		return nil, errors.New("timeout and output cap are not negative")
	}
	for _, field := range t.Trusted {
		if _, err := SplitPath(field); err != nil {
			return nil, fmt.Errorf("read trusted field %q: %w", field, err)
		}
	}
	e := &entry{Tool: t, output: &schema{}}
	var err error
	if t.Input != nil {
		if e.input, err = compileSchema(t.Input); err != nil {
			return nil, fmt.Errorf("compile input schema: %w", err)
		}
	}
	if t.Output != nil {
		if e.output, err = compileSchema(t.Output); err != nil {
			return nil, fmt.Errorf("compile output schema: %w", err)
		}
	}
	return e, nil
}

// Lookup gives a tool's declaration. It is shared and must not be changed.
func (c *Catalog) Lookup(name string) (*Tool, bool) {
	if c == nil {
		return nil, false
	}
	e, ok := c.tools[name]
	if !ok {
		return nil, false
	}
	return &e.Tool, true
}

// Names gives the names of all tools, sorted.
func (c *Catalog) Names() []string { return slices.Clone(c.names) }

// Hash identifies the declarations: "sha256:" and hex over Canonical.
func (c *Catalog) Hash() string { return c.hash }

// Canonical is the RFC 8785 JSON of all declarations, sorted by name. Of an
// impact function it says only that there is one.
func (c *Catalog) Canonical() []byte { return slices.Clone(c.canonical) }

// CheckParams validates the whole parameter object of a call against the tool's
// input schema.
func (c *Catalog) CheckParams(tool string, params []byte) error {
	e, ok := c.tools[tool]
	if !ok {
		return fmt.Errorf("check parameters of %q: %w", tool, ErrUnknownTool)
	}
	s := e.input
	if s == nil {
		s = &schema{isObject: true}
	}
	if err := s.check(params); err != nil {
		return fmt.Errorf("check parameters of %s: %w", tool, err)
	}
	return nil
}

// CheckOutput validates an output against the step's contract: own, the step's
// own schema, or the tool's where own is nil (P10). A tool without an output
// schema accepts every JSON value.
func (c *Catalog) CheckOutput(tool string, own, output []byte) error {
	e, ok := c.tools[tool]
	if !ok {
		return fmt.Errorf("check output of %q: %w", tool, ErrUnknownTool)
	}
	s := e.output
	if own != nil {
		var err error
		if s, err = compilePlanSchema(own); err != nil {
			return fmt.Errorf("check output of %s: %w", tool, err)
		}
	}
	if err := s.check(output); err != nil {
		return fmt.Errorf("check output of %s: %w", tool, err)
	}
	return nil
}

// describe writes the declarations and hashes them.
func (c *Catalog) describe() error {
	declared := make([]json.RawMessage, 0, len(c.names))
	for _, name := range c.names {
		text, err := json.Marshal(describeTool(&c.tools[name].Tool))
		if err != nil {
			return fmt.Errorf("describe tool %q: %w", name, err)
		}
		declared = append(declared, text)
	}
	text, err := json.Marshal(map[string]any{"tools": declared})
	if err != nil {
		return fmt.Errorf("describe tools: %w", err)
	}
	if c.canonical, err = Canonical(text); err != nil {
		return fmt.Errorf("describe tools: %w", err)
	}
	c.hash = hashOf(c.canonical)
	return nil
}

func describeTool(t *Tool) map[string]any {
	d := map[string]any{
		"name": t.Name, "summary": t.Summary, "effect": t.Effect, "impact": int(t.Impact),
		"external": t.External, "pure": t.Pure, "impact_of": t.ImpactOf != nil,
		"sinks": append([]string{}, t.Sinks...), "trusted": append([]string{}, t.Trusted...),
		"timeout_us": t.Timeout.Microseconds(), "bytes": t.Bytes,
	}
	if len(t.Literal) > 0 {
		d["literal"] = t.Literal
	}
	if t.Input != nil {
		d["input"] = t.Input
	}
	if t.Output != nil {
		d["output"] = t.Output
	}
	return d
}

// hashOf is the form in which every content hash is written.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
