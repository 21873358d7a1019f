package document

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sluice/policy"
)

// Limits on a policy document as YAML.
const (
	BytesMax    = 256 << 10
	DepthMax    = 16  // nesting of maps and lists
	ProblemsMax = 100 // problems reported for one document
)

// Problem is one thing wrong with a document. Line and Col count from 1;
// Pointer is an RFC 6901 pointer; Message says what is wrong and what to do.
type Problem struct {
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

const noAliases = "Aliases are not available. Write the value out; put quotes around a pattern that starts with *."

// Canonical is policy.Canonical: the bytes that a policy's hash is over.
func Canonical(d policy.Document) []byte { return policy.Canonical(d) }

// Parse reads a policy document. With any problem the Document is the zero
// value; without one it compiles. Problems come in the order of the text, at
// most ProblemsMax of them.
func Parse(text []byte) (policy.Document, []Problem) { return ParseFor(text, nil) }

// ParseFor is Parse where the tools are known: it also refuses impact overrides
// that would have no effect on them (policy.CheckAgainst). nil is for tools that
// are not known.
func ParseFor(text []byte, tools []policy.Tool) (policy.Document, []Problem) {
	root, problem := load(text)
	if problem != nil {
		return policy.Document{}, []Problem{*problem}
	}
	r := &reader{places: map[string]place{}}
	r.inspect(root, "", 0)
	if len(r.problems) > 0 {
		return policy.Document{}, inTextOrder(r.problems)
	}
	d := r.document(root)
	r.addIssues(policy.Check(d))
	if len(r.problems) == 0 && tools != nil {
		r.addIssues(policy.CheckAgainst(d, tools))
	}
	if len(r.problems) > 0 {
		return policy.Document{}, inTextOrder(r.problems)
	}
	return d, nil
}

// load reads one YAML document into nodes. Nodes keep aliases as they are, so
// nothing is expanded before inspect refuses it.
func load(text []byte) (*yaml.Node, *Problem) {
	if len(text) > BytesMax {
		return nil, &Problem{Line: 1, Col: 1, Message: "The document has " + strconv.Itoa(len(text)) + " bytes; the limit is " + strconv.Itoa(BytesMax) + ". Use patterns, or remove entries."}
	}
	if bad := firstInvalid(text); bad >= 0 {
		line, col := lineCol(text, bad)
		return nil, &Problem{Line: line, Col: col, Message: "The text is not UTF-8 from here on. Save it as UTF-8."}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, &Problem{Line: 1, Col: 1, Message: "The document is empty. Start with version: 1."}
	}
	if err != nil {
		return nil, syntaxProblem(text)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, &Problem{Line: second.Line, Col: max(second.Column, 1), Message: "A second document starts here. Keep one document in the text."}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(text)
	}
	return first.Content[0], nil
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func lineCol(text []byte, offset int) (line, col int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

var (
	errorLine   = regexp.MustCompile(`line \d+: `)
	errorAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// complaint is the reader's error without its line, which for many errors is
// that of the whole block around the mistake.
func complaint(text []byte) string {
	var node yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return ""
		} else if err != nil {
			return errorLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
		}
	}
}

// syntaxProblem finds where the text stops being YAML: at the end of the
// shortest run of lines from the start that draws the same complaint.
func syntaxProblem(text []byte) *Problem {
	message := complaint(text)
	if found := errorAnchor.FindStringSubmatch(message); found != nil {
		p := &Problem{Line: 1, Col: 1, Message: noAliases}
		if offset := bytes.Index(text, []byte("*"+found[1])); offset >= 0 {
			p.Line, p.Col = lineCol(text, offset)
		}
		return p
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	size := make([]int, len(lines)+1) // bytes in the first n lines
	for i, line := range lines {
		size[i+1] = size[i] + len(line)
	}
	line := 1 + sort.Search(len(lines)-1, func(i int) bool { return complaint(text[:size[i+1]]) == message })
	content := lines[line-1]
	return &Problem{
		Line:    line,
		Col:     len(content) - len(bytes.TrimLeft(content, " ")) + 1,
		Message: "This is not YAML: " + message + ". Check indentation, brackets and quotes; a pattern that starts with * needs quotes.",
	}
}

func inTextOrder(problems []Problem) []Problem {
	sort.SliceStable(problems, func(i, j int) bool {
		a, b := problems[i], problems[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	if len(problems) > ProblemsMax {
		last := problems[ProblemsMax-1]
		last.Pointer = ""
		last.Message = "There are " + strconv.Itoa(len(problems)-ProblemsMax+1) + " more problems from here on. Mend the first ones and try again."
		problems = append(problems[:ProblemsMax-1:ProblemsMax-1], last)
	}
	return problems
}
