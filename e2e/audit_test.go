//go:build e2e

package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the tests break logs as somebody with the file could
)

// report is the answer of audit verify (P36a).
type report struct {
	OK      bool `json:"ok"`
	Streams []struct {
		Stream string `json:"stream"`
		Status string `json:"status"`
		Seq    int64  `json:"seq"`
		Reason string `json:"reason"`
	} `json:"streams"`
}

// statuses are those of streams that are not ok.
func (r report) statuses() []string {
	var out []string
	for _, s := range r.Streams {
		if s.Status != "ok" {
			out = append(out, s.Status)
		}
	}
	return out
}

// oneRun makes a data directory with one finished run and gives both.
func oneRun(t *testing.T) (data, id string) {
	t.Helper()
	data = t.TempDir()
	return data, inProcess(t, data)
}

// inProcess runs a goal without a server (P34).
func inProcess(t *testing.T, data string) string {
	t.Helper()
	r := sluice(t, "", "run", "show the kernel version and disk usage", "--intent", "observe", "--data", data, "--json")
	return decode[run](t, r.wantCode(t, 0)).ID
}

func audit(t *testing.T, data string, code int, args ...string) report {
	t.Helper()
	all := append([]string{"audit", "verify", "--data", data, "--json"}, args...)
	return decode[report](t, sluice(t, "", all...).wantCode(t, code))
}

// tamper runs statements on the log with its guards taken away, as somebody
// with write access to the file could.
func tamper(t *testing.T, data, id string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	guards := []string{"DROP TRIGGER facts_keep", "DROP TRIGGER facts_erase_only", "DROP TRIGGER facts_next"}
	for _, s := range append(guards, statements...) {
		result, err := db.Exec(strings.ReplaceAll(s, "STREAM", "(SELECT number FROM streams WHERE name = 'run/"+id+"')"))
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if n, err := result.RowsAffected(); err == nil && n == 0 && !strings.HasPrefix(s, "DROP") {
			t.Fatalf("%s: changed nothing", s)
		}
	}
}

func TestR81_VerifyFindsEveryTampering(t *testing.T) {
	cases := []struct{ name, statement string }{
		{"flipped byte of the data", "UPDATE facts SET data = CAST(replace(data, 'kernel', 'kernal') AS BLOB) WHERE id = (STREAM << 32) + 1"},
		{"changed actor", "UPDATE facts SET actor = 'user:2' WHERE id = (STREAM << 32) + 2"},
		{"deleted row", "DELETE FROM facts WHERE id = (STREAM << 32) + 3"},
		{"dropped tail", "DELETE FROM facts WHERE id = (SELECT max(id) FROM facts WHERE id >> 32 = STREAM)"},
		{"removed stream", "DELETE FROM facts WHERE id >> 32 = STREAM"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data, id := oneRun(t)
			if r := audit(t, data, 0); !r.OK || len(r.statuses()) != 0 {
				t.Fatalf("before: got %+v, want every stream ok", r)
			}
			tamper(t, data, id, c.statement)
			r := audit(t, data, 1)
			if r.OK || len(r.statuses()) == 0 {
				t.Errorf("got %+v, want the stream found", r)
			}
			if c.name == "dropped tail" && !slices.Contains(r.statuses(), "truncated") {
				t.Errorf("got %v, want truncated", r.statuses())
			}
		})
	}
}

// TestP36a_ARewrittenLogDoesNotMatchAnExportedSeal: the rewritten log is sound in
// itself; only what was kept outside shows it.
func TestP36a_ARewrittenLogDoesNotMatchAnExportedSeal(t *testing.T) {
	data, _ := oneRun(t)
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	inProcess(t, data)
	seals := filepath.Join(t.TempDir(), "kept.ndjson")
	sluice(t, "", "audit", "export", "--data", data, "--out", seals).wantCode(t, 0)
	if r := audit(t, data, 0, "--seal", seals); !r.OK {
		t.Errorf("the honest log: got %+v, want ok", r)
	}
	inProcess(t, other)
	if r := audit(t, other, 0); !r.OK {
		t.Fatalf("the other log by itself: got %+v, want ok", r)
	}
	if r := audit(t, other, 1, "--seal", seals); r.OK || len(r.statuses()) == 0 {
		t.Errorf("the other log against the seal: got %+v, want it found", r)
	}
}

func TestP27_AnErasedRunShowsAsErased(t *testing.T) {
	data, id := oneRun(t)
	sluice(t, "", "erase", id, "--reason", "asked for", "--data", data).wantCode(t, 0)
	r := audit(t, data, 0)
	if !r.OK || !slices.Contains(r.statuses(), "erased") {
		t.Errorf("got %+v, want ok with one stream erased", r)
	}
	for _, name := range []string{"sluice.db", "sluice.db-wal"} {
		text, err := os.ReadFile(filepath.Join(data, name))
		if err == nil && strings.Contains(string(text), "show the kernel version and disk usage") {
			t.Errorf("%s still holds the goal", name)
		}
	}
}
