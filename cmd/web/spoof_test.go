package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// Texts that must never reach a page as they are: markup, a link that runs
// code, a turned direction, terminal codes, characters without width.
const (
	markup  = `<script>alert(1)</script><img src=x onerror=alert(2)><b style="color:red">&quot;`
	runs    = `[x](javascript:alert(3)) javascript:alert(4)`
	turned  = "in\u202evoice\u2066"
	codes   = "\x1b[2J\x1b]0;title\x07"
	nothing = "pay\u200b\ufeffpal\u2028"
	nasty   = markup + " " + runs + " " + turned + " " + codes + " " + nothing
)

// quoted is a text as a JSON string.
func quoted(t *testing.T, text string) string {
	t.Helper()
	return asJSON(t, text)
}

var (
	tag         = regexp.MustCompile(`<[a-zA-Z/][^>]*>`)
	handler     = regexp.MustCompile(`(?i)[\s"'/](on[a-z]+|style)\s*=`)
	value       = regexp.MustCompile(`"[^"]*"`)
	target      = regexp.MustCompile(`(?i)(?:href|src|action|formaction|data|xlink:href)="([^"]*)"`)
	scriptStart = regexp.MustCompile(`(?i)<script([^>]*)>`)
	dataBlock   = regexp.MustCompile(`(?s)<script type="application/json"[^>]*>(.*?)</script>|<script[^>]*type="application/json"[^>]*>(.*?)</script>`)
)

// checkPage fails on anything in a page that could run or that could hide.
func checkPage(t *testing.T, where, html string) {
	t.Helper()
	for _, part := range tag.FindAllString(html, -1) {
		if found := handler.FindString(value.ReplaceAllString(part, `""`)); found != "" {
			t.Errorf("%s: got %s in %.200s, want no handler and no style attribute (P43)", where, found, part)
		}
		for _, link := range target.FindAllStringSubmatch(part, -1) {
			if u, err := url.Parse(link[1]); err != nil || u.Scheme != "" || u.Host != "" {
				t.Errorf("%s: got the link %q, want only this site's own", where, link[1])
			}
		}
	}
	for _, start := range scriptStart.FindAllStringSubmatch(html, -1) {
		if !strings.Contains(start[1], "src=") && !strings.Contains(start[1], `type="application/json"`) {
			t.Errorf("%s: got a script in the page: %s", where, start[0])
		}
	}
	for _, text := range []string{"<script>alert", "<img src=x", "<b style"} {
		if strings.Contains(html, text) {
			t.Errorf("%s: got %s as markup", where, text)
		}
	}
	for _, block := range dataBlock.FindAllStringSubmatch(html, -1) {
		if data := block[1] + block[2]; !json.Valid([]byte(data)) || strings.Contains(data, "<") {
			t.Errorf("%s: got a block of data that is no JSON or holds markup: %.200s", where, data)
		}
	}
	html = dataBlock.ReplaceAllString(html, "") // read by the island, which shows neither goal nor values
	for i, r := range html {
		if r >= ' ' && r <= '~' {
			continue
		}
		if r != '\n' && r != '\t' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			t.Errorf("%s: got the hidden character %U in …%q…", where, r, html[max(0, i-60):min(len(html), i+20)])
			return
		}
	}
}

// nastyRun makes a run whose goal, parameters, file names and contents are
// nasty: a listing, a failure and a write that waits for an approval.
func nastyRun(t *testing.T, o *caller) *shape {
	t.Helper()
	name := "<b>" + turned + "\u200b.txt"
	writeFile(t, filepath.Join(o.app.cfg.Workspace, name), nasty)
	steps := []string{
		`{"id":"list","tool":"file.list","params":{"path":"."}}`,
		fmt.Sprintf(`{"id":"read","tool":"file.read","params":{"path":%s},"why":%s}`, quoted(t, name), quoted(t, nasty)),
		fmt.Sprintf(`{"id":"search","tool":"file.search","params":{"query":%s}}`, quoted(t, "javascript")),
		fmt.Sprintf(`{"id":"gone","tool":"file.read","params":{"path":%s}}`, quoted(t, "gone"+turned+"<i>")),
		fmt.Sprintf(`{"id":"write","tool":"file.write","approval":true,"params":{"path":%s,"content":%s}}`, quoted(t, "out"+turned+"<u>"), quoted(t, nasty+"\n"+nasty)),
		`{"id":"copy","tool":"file.write","approval":true,"params":{"path":"copy.txt"},"param_refs":{"content":{"step":"read","field":"content"}}}`,
	}
	body := fmt.Sprintf(`{"intent":"operate","plan":{"format":1,"goal":%s,"max_steps":10,"steps":[%s]}}`, quoted(t, nasty), strings.Join(steps, ","))
	r := o.runToRest(body)
	if r.Status != "waiting" || len(r.Waiting) != 2 {
		t.Fatalf("got %+v, want two approvals waiting", r)
	}
	return r
}

// everyPage lists the pages about a run, and about some of its nodes.
func everyPage(r *shape, nodes ...string) []string {
	pages := []string{"/", "/runs", "/runs?q=%3Cscript%3Ealert", "/approvals", "/approvals?tab=all", "/approvals?tab=decided",
		"/?goal=" + url.QueryEscape(nasty), "/nothing/" + url.PathEscape(nasty), "/runs/" + url.PathEscape(markup),
		"/signin?token=" + url.QueryEscape(nasty), "/frag/runs/" + r.ID}
	for _, view := range []string{"graph", "list", "log", "verdict"} {
		pages = append(pages, "/runs/"+r.ID+"?view="+view)
	}
	for _, n := range nodes {
		pages = append(pages, "/runs/"+r.ID+"/nodes/"+n, "/runs/"+r.ID+"?view=list&node="+n)
	}
	for _, a := range r.Waiting {
		pages = append(pages, "/approvals/"+a)
	}
	return pages
}

// TestP43_NothingFromOutsideRunsOrHides: on no page does a goal, a file's name
// or its content become markup, a link or a hidden character (security.md: XSS,
// terminal and bidi spoofing).
func TestP43_NothingFromOutsideRunsOrHides(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := nastyRun(t, o)
	for _, path := range everyPage(r, "list", "read", "search", "gone", "write", "copy") {
		checkPage(t, path+" while waiting", o.get(path).text())
	}
	for _, a := range r.Waiting {
		o.want(http.StatusOK, o.post("/api/v1/approvals/"+a, `{"verdict":"deny","hash":"`+o.hashOf(a)+`","reason":`+quoted(t, nasty)+`}`), nil)
	}
	o.end(r.ID)
	for _, path := range everyPage(r, "write", "copy", "reflect") {
		checkPage(t, path+" at the end", o.get(path).text())
	}
	form := o.form("/runs", url.Values{"goal": {nasty}, "intent": {"<script>alert"}}.Encode())
	checkPage(t, "refused form", strings.NewReplacer("\u202e", "", "\u2066", "", "\x1b", "", "\x07", "", "\u200b", "", "\ufeff", "", "\u2028", "").Replace(form.text()))
}

// TestP43_HiddenCharactersAreWrittenOut, so that whoever decides sees that they
// are there, and the packet warns of them.
func TestP43_HiddenCharactersAreWrittenOut(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := nastyRun(t, o)
	packet := ""
	for _, a := range r.Waiting {
		if text := o.get("/approvals/" + a).text(); strings.Contains(text, "file.write") && strings.Contains(text, "&lt;u&gt;") {
			packet = text
		}
	}
	for _, want := range []string{`\u202E`, `\u001B`, `\u200B`, `\uFEFF`, "&lt;script&gt;alert(1)&lt;/script&gt;", "Hidden characters."} {
		if !strings.Contains(packet, want) {
			t.Errorf("got no %s in the packet", want)
		}
	}
	untrusted := false
	for _, a := range r.Waiting {
		untrusted = untrusted || strings.Contains(o.get("/approvals/"+a).text(), "Untrusted value.")
	}
	if !untrusted {
		t.Error("no packet says that the content was read from a file")
	}
}

// TestP43_LongTextIsNotCutInSilence: what an approver does not see is counted.
func TestP43_LongTextIsNotCutInSilence(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	content := strings.Repeat("x", 10<<10) + "\nrm -rf\n"
	r := o.runToRest(`{"intent":"operate","plan":` + planOf(`{"id":"w","tool":"file.write","approval":true,"params":{"path":"a.txt","content":`+quoted(t, content)+`}}`) + `}`)
	if len(r.Waiting) != 1 {
		t.Fatalf("got %+v, want one approval", r)
	}
	text := o.get("/approvals/" + r.Waiting[0]).text()
	if !strings.Contains(text, fmt.Sprintf("%d characters in all", len(content))) {
		t.Error("the packet does not say how long the value is")
	}
	if !strings.Contains(text, "rm -rf") {
		t.Error("padding hides the rest of the content from the preview")
	}
}

// TestP43_DownloadsAreNoPages: what a run exports is never shown as markup.
func TestP43_DownloadsAreNoPages(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := nastyRun(t, o)
	for _, path := range []string{"/runs/" + r.ID + "/export", "/api/v1/audit/export"} {
		got := o.get(path)
		if kind := got.header.Get("Content-Type"); kind != "application/x-ndjson" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: got type %q, disposition %q, want an attachment of NDJSON", path, kind, got.header.Get("Content-Disposition"))
		}
		for i, line := range strings.Split(strings.TrimSpace(got.text()), "\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: line %d is no JSON: %.80s", path, i+1, line)
			}
		}
	}
}
