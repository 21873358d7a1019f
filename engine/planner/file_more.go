package planner

import "sluice/engine/plan"

// wholeText is what a file must be to be copied without loss: text, and read to
// its end. It is the contract of the reading step.
const wholeText = `{"type":"object","required":["path","content","encoding","truncated"],"properties":{` +
	`"path":{"type":"string"},"content":{"type":"string"},"encoding":{"const":"utf-8"},"truncated":{"const":false}}}`

// copyBytesMax is how much of a file is copied: what file.write takes.
const copyBytesMax = 48 << 10

// planCopy plans "copy a.txt to b.txt" as a reading and a writing.
func (b *builder) planCopy(r *reading) ([]string, string) {
	files := r.files()
	if len(files) != 2 {
		return nil, "a copy needs one file to read and one to write"
	}
	for _, f := range files {
		if why := f.check(); why != "" {
			return nil, why
		}
		r.use(f.at, f.at+1)
	}
	if len(r.left(fileWords)) > 0 {
		return nil, "only whole files of the workspace can be copied"
	}
	if !b.offers("file.read") || !b.offers("file.write") {
		return nil, b.missing("file.write", "copying")
	}
	from := b.draft.add(spec{tool: "file.read", name: "read " + files[0].path, given: map[string]any{"path": files[0].path},
		chosen: map[string]any{"limit": copyBytesMax}, schema: wholeText, guard: b.guard})
	to := b.write(files[1].path, nil, map[string]plan.Ref{"content": {Step: from, Field: "content"}})
	return []string{from, to}, ""
}

// planCompare plans the readings of a comparison; the comparison itself is left
// to who reads the report.
func (b *builder) planCompare(r *reading) ([]string, string) {
	if ids, why, is := b.planGit(read(r.phrase)); is {
		return ids, why
	}
	if len(r.files()) == 0 {
		if ids, why, is := b.planTopics(r); is {
			return ids, why
		}
		return nil, "no files are named to compare"
	}
	ids, why, _ := b.planRead(r)
	return ids, why
}

// planDigest plans the reading that a summary needs. The summary itself needs a
// model, except of what the report says anyway.
func (b *builder) planDigest(r *reading) ([]string, string) {
	if len(r.files()) > 0 {
		r.question = true // whatever else is said, it is about the text
		ids, why, _ := b.planRead(r)
		if why != "" {
			return nil, why
		}
		return ids, "the file is read; putting it into other words needs a model"
	}
	for _, rule := range []func(*reading) ([]string, string, bool){b.planGit, b.planTopics, b.planListing} {
		if ids, why, is := rule(read(r.phrase)); is {
			return ids, why
		}
	}
	return nil, "this needs a model"
}

// planAgain takes "and tell me the result" as said already.
func (b *builder) planAgain(r *reading) ([]string, string, bool) {
	if len(b.last) == 0 || r.opens && r.question || len(r.left(resultWords, wordSet("back done happen happened"))) > 0 {
		return nil, "", false
	}
	return b.last, "", r.has(resultWords) || len(r.body) == 0
}
