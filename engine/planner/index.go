package planner

import (
	"slices"
	"strings"

	"sluice/engine/plan"
)

// Index finds candidate tools for words. It only proposes: whether a candidate
// is taken is decided by coverage of verb and object (spec.md part G).
type Index interface {
	// Search gives the documents that hold at least one of the terms, best
	// first, at most limit. A term is data, whatever characters it has.
	Search(terms []string, limit int) ([]Hit, error)
}

// Hit is one candidate.
type Hit struct {
	Tool  string
	Score float64 // higher is better; only the order means anything
}

// candidatesMax is how many tools a clause may be matched to (design §4).
const candidatesMax = 15

// Document is what the index knows of a tool, taken from its declaration.
type Document struct {
	Tool     string
	Name     string // its name as words
	Summary  string
	Keywords string // words under which the planner's rules know it
	Params   string // names of its parameters as words
}

// Documents describes every tool of a catalogue, by name.
func Documents(catalog *plan.Catalog) []Document {
	var out []Document
	for _, name := range catalog.Names() {
		tool, _ := catalog.Lookup(name)
		out = append(out, Document{
			Tool: name, Name: asWords(name), Summary: tool.Summary,
			Keywords: strings.Join(keywordsOf(name), " "),
			Params:   asWords(strings.Join(shapeOf(tool.Input).names(), " ")),
		})
	}
	return out
}

func asWords(name string) string {
	return strings.NewReplacer(".", " ", "_", " ", "-", " ").Replace(name)
}

// keywordsOf lists the words of the rules for a tool, sorted.
func keywordsOf(tool string) []string {
	set := map[string]bool{}
	for _, t := range topics {
		if t.tool != tool {
			continue
		}
		for w := range t.explains { // order-free: sorted below
			set[w] = true
		}
		for _, phrase := range t.heads {
			for _, w := range phrase {
				set[w] = true
			}
		}
	}
	for w := range wordSet(ruleWords[tool]) { // order-free: sorted below
		set[w] = true
	}
	var out []string
	for w := range set { // order-free: sorted below
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

// ruleWords are the words of the rules that are no topics.
var ruleWords = map[string]string{
	"file.read": `read show cat open print display view content text document file what say first last line head tail compare summarise explain
		newest biggest it one check look see copy`,
	"file.list": `list ls show file directory folder content inside what biggest newest oldest large recent count how many everything find where
		exist image photo document`,
	"file.search": `search grep find look word text string contain mention occurrence occur match line where use define which appear check error`,
	"file.write":  `write create save store put make record file document note copy export dump result output`,
	"file.delete": `delete remove erase rm unlink trash rid file`,
	"git.find":    `git repository repo find list where which checkout clone project`,
	"git.status":  `git status uncommitted dirty clean change modified staged unstaged untracked branch repository working tree pending`,
	"git.log":     `git log commit history message author last recent repository committed who`,
	"git.diff":    `git diff difference change commit repository compare`,
}

// candidates asks the index which tools a phrase may mean. A failing index must
// not change what is planned, only how much is looked at.
func (b *builder) candidates(p phrase) map[string]bool {
	out := map[string]bool{}
	terms := p.terms()
	if b.planner.Index == nil || len(terms) == 0 {
		return nil
	}
	hits, err := b.planner.Index.Search(terms, candidatesMax)
	if err != nil {
		return nil
	}
	for _, hit := range hits {
		out[hit.Tool] = true
	}
	return out
}

// termsMax bounds a query of the index; a clause rarely has twenty words.
const termsMax = 64

func (p phrase) terms() []string {
	var out []string
	for _, t := range append([]token{p.verb}, p.tokens...) {
		switch {
		case len(out) >= termsMax: // enough to find a tool by
		case t.kind == pathish || t.kind == quoted && looksLikePath(t.text):
			out = append(out, "file", "folder")
		case t.kind == command:
			out = append(out, strings.Fields(t.text)...)
		case t.kind == word && t.text != "":
			out = append(out, t.text, t.stem)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
