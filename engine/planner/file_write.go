package planner

import (
	"path"
	"slices"
	"strings"

	"sluice/engine/plan"
)

// Reasons of the write rule.
const (
	noTargetText  = "no file is named to write to"
	noContentText = "what the file is to contain is not clear: put its text in quotes, or name a tool's result"
	mixedText     = "one file cannot take the outputs of several steps: name a file for each"
)

// writeWords may stand around target and content.
var writeWords = wordSet(`file document name called titled text new content containing contain say line word string workspace result output
	named with empty blank nothing markdown simple overwrite over existing inside single title note plain put saved there current form to-be following
	exactly literal literally heading number sentence message phrase body`)

// planWrite plans a file: its target is named, its content is quoted, said, or
// the output of a step.
func (b *builder) planWrite(r *reading) ([]string, string) {
	if !b.offers("file.write") {
		return nil, b.missing("file.write", "writing a file")
	}
	if why := r.notOurs(); why != "" {
		return nil, why
	}
	target, why := b.writeTarget(r)
	if why != "" {
		return nil, why
	}
	r.use(target.at, target.at+1)
	if text, is := b.saidContent(r); is {
		if len(r.left(writeWords)) > 0 {
			return nil, noContentText
		}
		return []string{b.write(target.path, map[string]any{"content": text}, nil)}, ""
	}
	if (r.text("empty", "blank") || r.text("no", "nothing", "without") && r.text("content", "nothing")) && len(r.left(writeWords)) == 0 {
		id := b.write(target.path, nil, nil)
		b.draft.set(id, "content", "")
		return []string{id}, ""
	}
	return b.writeOutput(r, target)
}

// notOurs declines what is written elsewhere than in a file, or into a part of one.
func (r *reading) notOurs() string {
	if r.text("append", "end", "top", "beginning", "bottom", "add", "prepend") {
		return "changing a part of a file needs a model or a plan written by hand: file.write replaces the whole"
	}
	if r.text("folder", "directory") && len(r.files()) == 0 {
		return "no tool here makes folders on their own"
	}
	return ""
}

// writeTarget finds the one file to write.
func (b *builder) writeTarget(r *reading) (place, string) {
	files := r.places()
	for _, p := range files {
		if p.outside {
			return p, outsideText
		}
	}
	files = slices.DeleteFunc(files, func(p place) bool { return p.isDir || p.glob })
	var into []place
	for _, p := range files {
		if r.writesTo(p.at) {
			into = append(into, p)
		}
	}
	if len(into) == 0 {
		into = files
	}
	if len(into) == 0 {
		into = slices.DeleteFunc(r.files(), func(p place) bool { return !r.writesTo(p.at) && !r.namesFile(p.at) })
	}
	switch {
	case len(into) == 0:
		return place{}, noTargetText
	case len(into) > 1:
		return place{}, "one file at a time can be written: several are named"
	case isMedia(into[0].path):
		return place{}, mediaText
	}
	return into[0], ""
}

// writesTo says whether the words before a file make it the target.
func (r *reading) writesTo(i int) bool {
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		t := r.body[j]
		switch {
		case t.text == "to" || t.text == "into" || t.text == "in" || t.text == "as" || t.text == "called" || t.text == "named" || t.text == "onto":
			return true
		case determiners[t.text] || t.stem == "file" || t.text == "new" || t.text == "empty" || t.text == "text" || t.text == "markdown":
			continue
		}
		return false
	}
	return true // nothing stands between the verb and the file
}

// saidContent reads content that the goal states: in quotes, after a colon, or
// after "saying" and its like.
func (b *builder) saidContent(r *reading) (string, bool) {
	for i, t := range r.body {
		if (t.kind == quoted || t.kind == command) && !r.used[i] {
			r.use(i, i+1)
			return t.text, true
		}
	}
	from := slices.IndexFunc(r.body, func(t token) bool { return t.kind == mark && t.raw == ":" }) + 1
	if from == 0 {
		from = r.afterSaying()
	}
	if from > 0 && from < len(r.body) {
		to := from
		for to < len(r.body) && !r.used[to] && !r.closesContent(to) {
			to++
		}
		if to > from {
			r.use(from-1, to)
			return strings.Trim(b.goal[r.body[from].start:r.body[to-1].end], " \t\r\n"), true
		}
	}
	return r.greeting()
}

// afterSaying gives the position after words that announce literal text, or 0.
func (r *reading) afterSaying() int {
	for i, t := range r.body {
		switch t.text {
		case "number":
			if at(r.body, i+1).kind == number {
				return i + 1
			}
		case "saying", "says", "reading":
			return i + 1
		case "text", "word", "words", "line", "message", "sentence", "string", "phrase":
			if at(r.body, i-1).text == "the" && at(r.body, i+1).kind == word && !placeWords[at(r.body, i+1).text] {
				return i + 1
			}
		}
	}
	return 0
}

// closesContent says whether the target follows: "the word hello to a.txt".
func (r *reading) closesContent(i int) bool {
	if !placeWords[r.body[i].text] {
		return false
	}
	for j := i + 1; j < len(r.body) && j <= i+4; j++ {
		if r.used[j] {
			return true
		}
	}
	return false
}

// greeting takes the few words that mean nothing but themselves.
func (r *reading) greeting() (string, bool) {
	for i, t := range r.body {
		switch {
		case r.used[i] || t.kind != word:
		case t.text == "hello" && at(r.body, i+1).text == "world":
			r.use(i, i+2)
			return t.raw + " " + r.body[i+1].raw, true
		case i == 0 && (t.text == "hello" || t.text == "hi" || t.text == "ok" || t.text == "done" || t.text == "test"):
			r.use(i, i+1)
			return t.raw, true
		}
	}
	return "", false
}

// writeOutput writes what another step gives: the one that the content's words
// name, or the one before ("it", "the result").
func (b *builder) writeOutput(r *reading, target place) ([]string, string) {
	content := r.contentPhrase(target)
	if len(read(content).left(writeWords, resultWords)) == 0 && len(read(content).topics()) == 0 {
		return b.writeLast(r, target)
	}
	sub := content
	sub.class, sub.question = verbShow, false
	guard := b.guard
	ids, why := b.planLook(read(sub))
	b.guard = guard
	if why != "" || len(ids) == 0 {
		return nil, noContentText
	}
	outcome := b.outcomes(ids)
	if len(outcome) > 1 {
		return ids, mixedText
	}
	return append(ids, b.writeRef(target.path, outcome[0])), ""
}

// resultWords stand for what an earlier clause gave.
var resultWords = wordSet("copy match hit occurrence data result output it that them this these those everything finding answer report summary information list content outcome response both lot")

// contentPhrase is what remains of the phrase without target and frame.
func (r *reading) contentPhrase(target place) phrase {
	p := r.phrase
	p.body = nil
	for i, t := range r.body {
		isFrame := t.text == "in" && at(r.body, i+1).text == "it" || t.text == "it" && at(r.body, i-1).text == "in" ||
			t.text == "inside" && i == len(r.body)-1 || t.text == "file" || t.text == "containing" || t.text == "named" || t.text == "called" || t.text == "titled"
		isLink := i+1 < len(r.body) && placeWords[t.text] && r.leadsTo(i, target.at)
		isOutput := (t.text == "output" || t.text == "result" || t.text == "results" || t.text == "outcome") && at(r.body, i+1).text == "of"
		if i == target.at || isFrame || isLink || isOutput || t.kind == mark {
			continue
		}
		p.body = append(p.body, t)
	}
	return p
}

// leadsTo says whether only articles stand between a preposition and the target.
func (r *reading) leadsTo(i, target int) bool {
	for j := i + 1; j < target; j++ {
		if !determiners[r.body[j].text] && r.body[j].stem != "file" && r.body[j].text != "new" {
			return false
		}
	}
	return i < target
}

// writeLast writes the output of the clause before.
func (b *builder) writeLast(r *reading, target place) ([]string, string) {
	outcome := b.outcomes(b.last)
	switch {
	case len(outcome) == 0 || !r.has(resultWords):
		return nil, noContentText
	case len(outcome) > 1, r.text("both", "all", "everything", "them", "results", "these", "those") && b.separate():
		return nil, mixedText
	}
	return []string{b.writeRef(target.path, outcome[0])}, ""
}

// separate says whether the plan has results that no later step uses.
func (b *builder) separate() bool {
	open := 0
	for _, s := range b.draft.steps {
		used := slices.ContainsFunc(b.draft.steps, func(other plan.Step) bool { return refersTo(other, s.ID) })
		if !used && !slices.Contains(b.draft.acts, s.ID) {
			open++
		}
	}
	return open > 1
}

// outcomes gives those of the steps that none of the others uses: what a clause
// was about, without the steps on the way to it.
func (b *builder) outcomes(ids []string) []string {
	var out []string
	for _, id := range ids {
		isUsed := slices.ContainsFunc(ids, func(other string) bool {
			s := b.draft.step(other)
			return s != nil && refersTo(*s, id)
		})
		if !isUsed && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func (b *builder) tool(id string) string {
	if s := b.draft.step(id); s != nil {
		return s.Tool
	}
	return ""
}

// write adds a step that writes literal text.
func (b *builder) write(name string, given map[string]any, refs map[string]plan.Ref) string {
	s := spec{tool: "file.write", name: "write " + name, given: map[string]any{"path": name}, refs: refs, guard: b.guard, act: true}
	if text, is := given["content"]; is {
		s.given["content"] = text
	}
	b.path = name
	return b.draft.add(s)
}

// writeRef adds a step that writes the output of another. A template makes text
// of it: a file takes no object.
func (b *builder) writeRef(name, from string) string {
	ref := plan.Ref{Step: from, Template: "{{value}}\n"}
	switch tool := b.tool(from); {
	case tool == "file.read":
		ref = plan.Ref{Step: from, Field: "content"}
	case tool == "git.diff":
		ref.Field = "diff"
	case strings.EqualFold(path.Ext(name), ".md"):
		ref.Template = "# " + headings(from) + "\n\n```json\n{{value}}\n```\n"
	}
	return b.write(name, nil, map[string]plan.Ref{"content": ref})
}

// headings makes a title of a step id: "disk_usage" is "Disk usage".
func headings(id string) string {
	words := strings.ReplaceAll(id, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
