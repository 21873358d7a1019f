//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func status(t *testing.T, c *http.Client, url string) int {
	t.Helper()
	response, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestP36a_TheLinkSignsInOnce(t *testing.T) {
	s := serve(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	first := &http.Client{Jar: jar}
	if got := status(t, first, s.link); got != http.StatusOK {
		t.Fatalf("first use: got %d, want 200 after the redirect", got)
	}
	if got := status(t, first, s.url("/runs")); got != http.StatusOK {
		t.Errorf("runs page with the session: got %d, want 200", got)
	}
	if got := status(t, http.DefaultClient, s.link); got < 400 {
		t.Errorf("second use of the link: got %d, want it refused", got)
	}
	if got := status(t, http.DefaultClient, s.url("/api/v1/runs")); got != http.StatusUnauthorized {
		t.Errorf("API without session or token: got %d, want 401", got)
	}
}

func TestP42a_HealthNeedsNoSession(t *testing.T) {
	s := serve(t)
	if got := status(t, http.DefaultClient, s.url("/healthz")); got != http.StatusOK {
		t.Errorf("got %d, want 200", got)
	}
}

func TestP36a_ServerFileIsPrivateAndGoesWithTheServer(t *testing.T) {
	s := serve(t)
	name := filepath.Join(s.data, "server.json")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %o, want 600", got)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ URL, Token string }
	if err := json.Unmarshal(text, &file); err != nil || file.Token == "" || !strings.Contains(file.URL, s.address) {
		t.Errorf("got %s (%v), want url and token", text, err)
	}
	s.stop()
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after exit: got %v, want the file gone", err)
	}
}

func TestP34_TheDataDirectoryIsLocked(t *testing.T) {
	s := serve(t)
	second := sluice(t, "", "serve", "--listen", freeAddress(t), "--data", s.data)
	second.wantCode(t, 3)
}

// TestP34_RunGoesThroughTheServer: one log, whoever asks.
func TestP34_RunGoesThroughTheServer(t *testing.T) {
	s := serve(t)
	r := decode[run](t, sluice(t, "", "run", "show the kernel version", "--intent", "observe", "--data", s.data, "--json").wantCode(t, 0))
	if r.Code != "SUCCESS" || r.Counts["executed"] < 1 {
		t.Fatalf("got code %s and counts %v, want SUCCESS with a step done", r.Code, r.Counts)
	}
	if seen := s.api("observe").until(r.ID, "ended"); seen.Code != r.Code || seen.Seq < r.Seq {
		t.Errorf("the server knows %+v, want the same run", seen)
	}
}

func TestP42a_ATokenNeverDecidesAndKeepsItsCeiling(t *testing.T) {
	s := serve(t)
	observe := s.api("observe")
	if code, text := observe.do(http.MethodPost, "/runs", map[string]any{"goal": "delete notes.txt", "intent": "override"}); code != http.StatusForbidden {
		t.Errorf("above the ceiling: got %d %s, want 403", code, text)
	}
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "keep")
	api := s.api("override")
	id := api.submit(map[string]any{"goal": "delete notes.txt", "intent": "override"})
	waiting := api.until(id, "waiting")
	if len(waiting.Waiting) != 1 {
		t.Fatalf("got %v, want one approval", waiting.Waiting)
	}
	body := map[string]any{"verdict": "approve", "hash": "sha256:00"}
	if code, text := api.do(http.MethodPost, "/approvals/"+waiting.Waiting[0], body); code != http.StatusForbidden {
		t.Errorf("decide with a token: got %d %s, want 403", code, text)
	}
	if _, err := os.Stat(filepath.Join(s.data, "workspace", "notes.txt")); err != nil {
		t.Errorf("the file: got %v, want it kept", err)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
