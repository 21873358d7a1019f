package planner

import (
	"path"
	"strings"

	"sluice/engine/plan"
)

// deleteWords may stand beside the name of a file that is to be deleted.
var deleteWords = wordSet("file document workspace permanently forever altogether completely good immediately delete old temporary unneeded")

// planDelete plans a deletion: a verb that says so and every target named.
// Anything else in the phrase means that something else is to be deleted ("the
// second line of a.txt", "my account"), so nothing is.
func (b *builder) planDelete(r *reading) ([]string, string) {
	if !b.offers("file.delete") {
		return nil, b.missing("file.delete", "deleting")
	}
	files := r.deletable()
	if len(files) == 0 {
		return b.deleteBack(r)
	}
	for _, f := range files {
		if f.isEnding() && r.text("all", "every", "each", "any", "files", "ones", "documents", "everything") {
			return nil, patternText
		}
		if why := f.deleteCheck(); why != "" {
			return nil, why
		}
		r.use(f.at, f.at+1)
	}
	if len(files) == 1 && !r.text("from") {
		r.inFolder(&files[0])
	}
	if r.text("folder", "directory") {
		return nil, "file.delete deletes single files, no folders"
	}
	if len(r.left(deleteWords)) > 0 {
		return nil, "only whole files named in the goal can be deleted"
	}
	var ids []string
	for _, f := range files {
		b.path = f.path
		ids = append(ids, b.draft.add(spec{tool: "file.delete", name: "delete " + f.path, given: map[string]any{"path": f.path}, guard: b.guard, act: true}))
	}
	return ids, ""
}

const patternText = "file.delete deletes single files: a pattern names none"

// isEnding says whether a name is only how names end: ".tmp" in "all .tmp files"
// is no file to be deleted.
func (p place) isEnding() bool {
	name := path.Base(p.path)
	return strings.HasPrefix(name, ".") && strings.Count(name, ".") == 1
}

// deletable lists the targets: files, and a path that is all the phrase has.
func (r *reading) deletable() []place {
	all := r.places()
	if len(all) == 1 && len(r.body) == 1 {
		return all
	}
	var out []place
	for _, p := range all {
		if !p.isDir || p.glob || p.outside {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return r.files()
	}
	return out
}

func (p place) deleteCheck() string {
	switch {
	case p.outside:
		return outsideText
	case p.glob:
		return patternText
	case p.slash || p.path == ".":
		return "file.delete deletes single files, no folders"
	}
	return ""
}

// deleteBack plans "delete it" for the file named before, and "delete the newest
// one" for the one entry that a listing picks.
func (b *builder) deleteBack(r *reading) ([]string, string) {
	const noTarget = "no file is named to be deleted"
	if r.superlative() && (r.text("file", "one", "files", "entry") || b.listing != "") {
		if r.text("all", "every", "files", "ones") {
			return nil, noTarget
		}
		ids, ref, why := b.pick(r)
		if why != "" {
			return nil, why
		}
		if len(r.left(fileWords)) > 0 || ref.Field == "" || b.matches == ref.Step {
			return nil, noTarget
		}
		id := b.draft.add(spec{tool: "file.delete", name: "delete " + r.pickName(), refs: map[string]plan.Ref{"path": ref}, guard: b.guard, act: true})
		return append(ids, id), ""
	}
	if b.picked != "" && r.text("it") && len(r.left(deleteWords)) == 0 {
		return []string{b.draft.add(spec{tool: "file.delete", name: "delete picked file", guard: b.guard, act: true,
			refs: map[string]plan.Ref{"path": {Step: b.picked, Field: "entries.0.path"}}})}, ""
	}
	name := b.itForGood()
	last := newPlace(name, 0)
	if name == "" || last.isDir || !r.text("it") || len(r.left(deleteWords)) > 0 {
		return nil, noTarget
	}
	return []string{b.draft.add(spec{tool: "file.delete", name: "delete " + name, given: map[string]any{"path": name}, guard: b.guard, act: true})}, ""
}
