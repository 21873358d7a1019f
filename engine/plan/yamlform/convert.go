package yamlform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"sluice/engine/plan"
)

// Parse is plan.Parse for a YAML document.
func Parse(doc []byte) (*plan.Plan, []plan.Finding) {
	text, findings := ToJSON(doc)
	if text == nil {
		return nil, findings
	}
	return plan.Parse(text)
}

// Check is plan.Check for a YAML document.
func Check(doc []byte, env plan.Env) (*plan.Compiled, []plan.Finding) {
	text, findings := ToJSON(doc)
	if text == nil {
		return nil, findings
	}
	return plan.Check(text, env)
}

// ToJSON converts one YAML document of at most plan.DocumentBytesMax into JSON.
// The JSON is nil when there are findings; those all refuse the document.
func ToJSON(doc []byte) ([]byte, []plan.Finding) {
	c := &converter{}
	if len(doc) > plan.DocumentBytesMax {
		c.refuse(at{}, "P14", fmt.Sprintf("The document has %d bytes; at most %d are read (4 MiB).", len(doc), plan.DocumentBytesMax), "Send a smaller plan.")
		return nil, c.found
	}
	root, err := read(doc)
	if err != nil {
		c.refuse(at{}, "yaml", fmt.Sprintf("This is not YAML: %s.", strings.TrimPrefix(err.Error(), "yaml: ")), "Write one valid YAML document in UTF-8.")
		return nil, c.found
	}
	c.value(at{}, root, 0)
	if len(c.found) > 0 {
		return nil, c.found
	}
	return c.out, nil
}

// read gives the root of the only document.
func read(doc []byte) (root *yaml.Node, err error) {
	// The reader of YAML is not ours: what would be its panic is not YAML.
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, fmt.Errorf("it cannot be read: %v", cause)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(doc))
	var first, second yaml.Node
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) {
		return nil, errors.New("the document is empty")
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	if first.Kind != yaml.DocumentNode || len(first.Content) != 1 {
		return nil, errors.New("the document is empty")
	}
	return first.Content[0], nil
}

// at is the pointer of a node: a chain from the node up, written only for findings.
type at struct {
	above *at
	token string
}

func (a at) below(token string) at { return at{above: &a, token: token} }

func (a at) String() string {
	if a.above == nil {
		return ""
	}
	token := strings.ReplaceAll(strings.ReplaceAll(a.token, "~", "~0"), "/", "~1")
	return a.above.String() + "/" + token
}

// converter writes JSON while it walks the nodes.
type converter struct {
	out   []byte
	found []plan.Finding
}

// refuse adds an error; beyond plan.FindingsMax the document is refused anyway.
func (c *converter) refuse(where at, rule, message, fix string) {
	if len(c.found) < plan.FindingsMax {
		c.found = append(c.found, plan.Finding{Rule: rule, Severity: plan.Error, Pointer: where.String(), Message: message, Fix: fix})
	}
}

func (c *converter) value(where at, n *yaml.Node, depth int) {
	if depth > plan.DepthMax {
		c.refuse(where, "P14", fmt.Sprintf("The document is nested deeper than %d levels (line %d).", plan.DepthMax, n.Line), "Flatten the value.")
		return
	}
	if n.Anchor != "" {
		c.refuse(where, "yaml", fmt.Sprintf("An anchor stands here (line %d); plans have none.", n.Line), "Write the value out where it is used.")
	}
	switch n.Kind {
	case yaml.MappingNode:
		c.object(where, n, depth)
	case yaml.SequenceNode:
		c.array(where, n, depth)
	case yaml.ScalarNode:
		c.scalar(where, n)
	case yaml.AliasNode:
		c.refuse(where, "yaml", fmt.Sprintf("An alias stands here (line %d); plans have none.", n.Line), "Write the value out.")
	default:
		c.refuse(where, "yaml", fmt.Sprintf("The value cannot be read (line %d).", n.Line), "Write a mapping, a sequence or a scalar.")
	}
}

func (c *converter) object(where at, n *yaml.Node, depth int) {
	c.isTag(where, n, "!!map")
	c.out = append(c.out, '{')
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		below := where.below(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Anchor != "":
			c.refuse(below, "P08", fmt.Sprintf("The key in line %d is no string.", key.Line), "Quote the key.")
			continue
		case seen[key.Value]:
			c.refuse(below, "P08", fmt.Sprintf("The key %s stands twice in one mapping (line %d).", strconv.Quote(key.Value), key.Line), "Keep one of them.")
			continue
		}
		seen[key.Value] = true
		if len(seen) > 1 {
			c.out = append(c.out, ',')
		}
		c.text(below, key)
		c.out = append(c.out, ':')
		c.value(below, value, depth+1)
	}
	c.out = append(c.out, '}')
}

func (c *converter) array(where at, n *yaml.Node, depth int) {
	c.isTag(where, n, "!!seq")
	c.out = append(c.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.value(where.below(strconv.Itoa(i)), item, depth+1)
	}
	c.out = append(c.out, ']')
}

func (c *converter) isTag(where at, n *yaml.Node, want string) {
	if n.ShortTag() != want {
		c.refuse(where, "yaml", fmt.Sprintf("The tag %s has no meaning in a plan (line %d).", strconv.Quote(n.Tag), n.Line), "Remove the tag.")
	}
}

func (c *converter) scalar(where at, n *yaml.Node) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		c.text(where, n)
	case "!!null":
		c.out = append(c.out, "null"...)
	case "!!bool":
		c.out = strconv.AppendBool(c.out, strings.EqualFold(n.Value, "true"))
	case "!!int":
		c.integer(where, n)
	case "!!float":
		c.number(where, n)
	default:
		c.isTag(where, n, "!!str")
	}
}

func (c *converter) text(where at, n *yaml.Node) {
	quoted, err := jsontext.AppendQuote(c.out, n.Value)
	if err != nil {
		c.refuse(where, "yaml", fmt.Sprintf("The text in line %d is not UTF-8.", n.Line), "Write UTF-8.")
		return
	}
	c.out = quoted
}

// integer writes an integer in decimal. One that no JSON reader keeps is written
// all the same: package plan refuses it in its own words.
func (c *converter) integer(where at, n *yaml.Node) {
	var value int64
	if err := n.Decode(&value); err == nil {
		c.out = strconv.AppendInt(c.out, value, 10)
		return
	}
	c.refuse(where, "P14", fmt.Sprintf("The number %s in line %d cannot be kept exactly.", strconv.Quote(n.Value), n.Line), "Use a smaller number, or quote it.")
}

func (c *converter) number(where at, n *yaml.Node) {
	var value float64
	if err := n.Decode(&value); err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		c.refuse(where, "P14", fmt.Sprintf("The number %s in line %d cannot be kept.", strconv.Quote(n.Value), n.Line), "Use a finite number, or quote it.")
		return
	}
	if jsontext.Value(n.Value).IsValid() {
		// As written, so that an integer too large is seen as one.
		c.out = append(c.out, n.Value...)
		return
	}
	c.out = strconv.AppendFloat(c.out, value, 'g', -1, 64)
}
