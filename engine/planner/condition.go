package planner

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/plan"
)

const conditionText = "the condition cannot be checked by a tool here"

// readCondition plans the step that a condition looks at and keeps the guard for
// the clauses that stand under it. A condition that cannot be planned takes them
// with it: they are not done unconditionally.
func (b *builder) readCondition(p phrase) {
	b.condition = b.words(p)
	if b.guard != nil || b.broken != "" {
		b.guard, b.broken = nil, "a condition of several parts cannot be planned"
		return
	}
	b.offered = b.candidates(p)
	guard, ids := b.measure(read(p))
	if guard == nil {
		b.broken = conditionText
		b.decline(p, conditionText)
		return
	}
	if p.unless {
		guard.Op = opposite[guard.Op]
		if guard.Op == "" {
			b.broken = conditionText
			return
		}
	}
	b.guard, b.last = guard, ids
}

// flip turns the guard around for "otherwise". It is false when there is none.
func (b *builder) flip() bool {
	if b.guard == nil {
		return b.broken == ""
	}
	turned := *b.guard
	turned.Op = opposite[turned.Op]
	if turned.Op == "" {
		b.guard, b.broken = nil, conditionText
		return true
	}
	b.guard = &turned
	return true
}

var opposite = map[string]string{"gt": "le", "ge": "lt", "lt": "ge", "le": "gt", "eq": "ne", "ne": "eq"}

// measure finds the guard: a number of one of the tools, a state of a
// repository, or a text in a file.
func (b *builder) measure(r *reading) (*plan.Guard, []string) {
	p := r.phrase
	p.class, p.condition, p.question = verbShow, false, true
	for _, m := range []func(phrase) (*plan.Guard, []string){b.measureFound, b.measureRepository, b.measureNumber} {
		saved := b.save()
		if guard, ids := m(p); guard != nil {
			return guard, ids
		}
		*b = saved
	}
	return nil, nil
}

// measureFound reads "app.log contains error" and "nginx is running".
func (b *builder) measureFound(p phrase) (*plan.Guard, []string) {
	if r := read(p); r.marksSearch() {
		if ids, why, is := b.planSearch(r); is && why == "" && b.gives("file.search", "matches.0.path") && !r.text("not", "no") {
			return &plan.Guard{Ref: plan.Ref{Step: ids[0], Field: "matches.0"}, Op: "exists"}, ids
		}
	}
	p.body = slices.Clone(p.body)
	if ids, _, is := b.planProgram(read(p)); is && b.gives("process_list", "total") {
		return b.compare(ids[0], "total", read(p).sign("gt"), 0), ids
	}
	return nil, nil
}

// sign turns an op around when the condition is denied: "nginx is not running".
func (r *reading) sign(op string) string {
	if r.text("not", "no", "isnt", "arent", "doesnt") {
		return opposite[op]
	}
	return op
}

// measureRepository reads "projects/web has uncommitted changes".
func (b *builder) measureRepository(p phrase) (*plan.Guard, []string) {
	r := read(p)
	if !r.has(statusWords) && !r.text("clean") || r.text("branch") {
		return nil, nil
	}
	ids, why, is := b.planGit(r)
	if !is || why != "" || b.tool(ids[len(ids)-1]) != "git.status" || !b.gives("git.status", "dirty.0") {
		return nil, nil
	}
	field := "dirty.0"
	if r.text("clean") {
		field = "clean.0"
	}
	if r.text("not", "no", "isnt", "doesnt") {
		field = map[string]string{"dirty.0": "clean.0", "clean.0": "dirty.0"}[field]
	}
	id := ids[len(ids)-1]
	return &plan.Guard{Ref: plan.Ref{Step: id, Field: field}, Op: "exists"}, ids
}

// quantity is a number that a tool's output gives.
type quantity struct {
	tool, field string
	words       map[string]bool
	percent     bool
}

var quantities = []quantity{
	{"disk_usage", "max_used_percent", wordSet("disk filesystem drive storage space partition mount volume"), true},
	{"sysinfo", "memory.used_percent", wordSet("memory ram"), true},
	{"sysinfo", "load_1", wordSet("load"), false},
	{"sysinfo", "cpu_count", wordSet("cpu core processor"), false},
	{"process_list", "total", wordSet("process"), false},
	{"env_list", "suspect_count", wordSet("secret credential leak token password"), false},
	{"env_list", "total", wordSet("environment variable"), false},
	{"git.find", "count", wordSet("repository"), false},
	{"file.list", "total", wordSet("file entry"), false},
}

// measureNumber reads "disk usage is above 80 percent", "there are more than 200
// processes", "any secrets leak".
func (b *builder) measureNumber(p phrase) (*plan.Guard, []string) {
	r := read(p)
	for _, q := range quantities {
		isBack := b.topic != nil && b.topic.tool == q.tool && len(b.last) > 0 && r.pointsBack(q)
		if !r.has(q.words) && !isBack || !b.gives(q.tool, q.field) {
			continue
		}
		op, value, ok := r.comparison(q)
		if !ok {
			continue
		}
		if isBack {
			return b.compare(b.last[len(b.last)-1], q.field, op, value), b.last
		}
		asked := p
		asked.body = withoutComparison(p.body)
		saved := b.save()
		ids, why := b.planLook(read(asked))
		if why != "" || len(ids) == 0 || b.tool(ids[len(ids)-1]) != q.tool {
			*b = saved
			continue
		}
		return b.compare(ids[len(ids)-1], q.field, op, value), ids
	}
	return nil, nil
}

// pointsBack says whether nothing but the comparison is said, so that the number
// of the step before is meant: "if it is above 90 %".
func (r *reading) pointsBack(q quantity) bool {
	if q.field == "total" && len(r.left()) == 0 {
		return true
	}
	p := r.phrase
	p.body = withoutComparison(p.body)
	return r.text("it", "that", "usage") && len(read(p).left(wordSet("usage"))) == 0
}

func (b *builder) compare(id, field, op string, value float64) *plan.Guard {
	return &plan.Guard{Ref: plan.Ref{Step: id, Field: field}, Op: op, Value: json.RawMessage(strconv.FormatFloat(value, 'f', -1, 64))}
}

var comparisons = []struct {
	form *regexp.Regexp
	op   string
}{
	{regexp.MustCompile(`\b(?:at least|or more|no less than|minimum)\b|>=`), "ge"},
	{regexp.MustCompile(`\b(?:at most|or less|no more than|not more than|not above|not over|maximum)\b|<=`), "le"},
	{regexp.MustCompile(`\b(?:above|over|more than|greater than|higher than|exceeds?|exceeding|beyond|past|bigger than|larger than|fuller than)\b|>`), "gt"},
	{regexp.MustCompile(`\b(?:below|under|less than|lower than|fewer than|smaller than)\b|<`), "lt"},
}

// comparison reads op and number. For disks and memory what is left counts
// backwards: less than 10 percent free is more than 90 percent used.
func (r *reading) comparison(q quantity) (op string, value float64, ok bool) {
	text := strings.ToLower(r.words())
	value, has := r.figure()
	for _, c := range comparisons {
		if c.form.MatchString(text) && op == "" {
			op = c.op
		}
	}
	switch {
	case !has && op == "" && !q.percent && r.text("any", "there", "leaked", "exposed"):
		return r.sign("gt"), 0, q.field != "load_1" && q.field != "cpu_count"
	case !has || op == "":
		return "", 0, false
	case q.percent && !r.text("percent", "%") && !strings.Contains(text, "%"):
		return "", 0, false
	case q.percent && r.text("free", "left", "available", "remaining", "remain", "remains"):
		return mirrored[op], 100 - value, true
	}
	return op, value, true
}

var mirrored = map[string]string{"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}

func (r *reading) words() string {
	var out []string
	for _, t := range r.tokens {
		out = append(out, t.text)
	}
	return strings.Join(out, " ")
}

// figure reads the one number of a condition.
func (r *reading) figure() (float64, bool) {
	for _, t := range r.body {
		if n := numberWords[t.text]; n > 0 && t.kind == word && t.text != "one" {
			return float64(n), true
		}
		if t.kind != number {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(t.raw, ",", ""), "%"), 64)
		return n, err == nil
	}
	return 0, false
}

// withoutComparison leaves what is measured.
func withoutComparison(body []token) []token {
	noise := wordSet("above over below under more less greater higher lower fewer exceed than least beyond past reach percent large small percentage go goes reach rise hit get gets climb drop fall")
	return slices.DeleteFunc(slices.Clone(body), func(t token) bool {
		return t.kind == number || t.kind == mark || t.kind == word && (noise[t.stem] || numberWords[t.text] > 0)
	})
}
