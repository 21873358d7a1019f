package static

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

func open(t *testing.T) *Files {
	t.Helper()
	files, err := New()
	if err != nil {
		t.Fatalf("open bundles: %v", err)
	}
	return files
}

// budget is one line of budget.json (ui.md §5).
type budget struct {
	Files []string `json:"files"`
	Max   int      `json:"gzip_bytes_max"`
}

func TestBundlesStayWithinBudget(t *testing.T) {
	raw, err := os.ReadFile("budget.json")
	if err != nil {
		t.Fatal(err)
	}
	var budgets map[string]budget
	if err := json.Unmarshal(raw, &budgets); err != nil {
		t.Fatal(err)
	}
	if len(budgets) != 6 {
		t.Fatalf("got %d budgets, want 6: shell, island, styles, builder and its styles, policy page", len(budgets))
	}
	files := open(t)
	for name, b := range budgets {
		total := 0
		for _, f := range b.Files {
			got, ok := files.byURL[files.URL(f)]
			if !ok {
				t.Fatalf("%s: no bundle %s", name, f)
			}
			total += len(got.packed)
		}
		if total == 0 || total > b.Max {
			t.Errorf("%s: got %d bytes packed, want 1 to %d", name, total, b.Max)
		}
	}
}

func TestURLHoldsTheContentHash(t *testing.T) {
	files := open(t)
	want := regexp.MustCompile(`^/static/app-[0-9a-f]{12}\.css$`)
	if got := files.URL("app.css"); !want.MatchString(got) {
		t.Errorf("got %q, want %s", got, want)
	}
	if got := files.URL("nothing.js"); got != "" {
		t.Errorf("unknown bundle: got %q, want an empty URL", got)
	}
}

func get(files *Files, url, encoding string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	files.ServeHTTP(w, r)
	return w.Result()
}

func TestBundlesAreServedImmutable(t *testing.T) {
	files := open(t)
	res := get(files, files.URL("live.js"), "")
	if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control: got %q, want immutable", got)
	}
	if got := res.Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("Content-Type: got %q", got)
	}
	plain, _ := io.ReadAll(res.Body)
	packed := get(files, files.URL("live.js"), "br, gzip")
	if got := packed.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding: got %q, want gzip", got)
	}
	unzip, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(unzip); string(got) != string(plain) {
		t.Errorf("packed body differs from the plain one: got %d bytes, want %d", len(got), len(plain))
	}
}

func TestOldHashAndFoldersAreNotServed(t *testing.T) {
	files := open(t)
	for _, url := range []string{"/static/app-000000000000.css", "/static/app.css", "/static/", "/static/../static.go", "/static/meta.json"} {
		if got := get(files, url, "").StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", url, got)
		}
	}
	r := httptest.NewRequest(http.MethodPost, files.URL("app.css"), nil)
	w := httptest.NewRecorder()
	files.ServeHTTP(w, r)
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", w.Code)
	}
}

// TestBundlesNameWhatTheyContain: what ships is credited, and no bundle reaches
// out to another host, which the CSP of P43 would refuse anyway.
func TestBundlesNameWhatTheyContain(t *testing.T) {
	licences, err := bundles.ReadFile("dist/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("dist/meta.json")
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^node_modules/((?:@[^/]+/)?[^/]+)/`)
	seen := 0
	for input := range meta.Inputs {
		m := name.FindStringSubmatch(input)
		if m == nil {
			continue
		}
		seen++
		if !strings.Contains(string(licences), "\n"+m[1]+" ") && !strings.HasPrefix(string(licences), m[1]+" ") {
			t.Errorf("%s is bundled but LICENSES.txt does not name it", m[1])
		}
	}
	if seen == 0 {
		t.Error("meta.json names no package, so nothing was checked")
	}
}

func TestP43_StylesAndScriptsLoadNothingFromElsewhere(t *testing.T) {
	outside := regexp.MustCompile(`(?:url\(|@import |import\(|fetch\(|src=)["']?https?:`)
	for _, name := range []string{"app.css", "graph.css", "live.js", "graph.js"} {
		body, err := bundles.ReadFile("dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := outside.Find(body); got != nil {
			t.Errorf("%s: got %q, want no request to another host", name, got)
		}
	}
	live, _ := bundles.ReadFile("dist/live.js")
	for _, banned := range []string{"eval(", "new Function("} {
		if strings.Contains(string(live), banned) {
			t.Errorf("live.js: got %s, which script-src 'self' refuses", banned)
		}
	}
}

// The bundles are packed once in a process, however many servers it starts.
func TestFiles_ArePackedOnce(t *testing.T) {
	first, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := New(); err != nil || second != first {
		t.Errorf("got other files the second time (%v)", err)
	}
}
