package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// served is a `sluice serve` in this process.
type served struct {
	link string // the sign-in link it printed
	info serverInfo
	stop func() result
}

// startServe runs the command until stop, and waits for its line.
func startServe(t *testing.T, data string, more ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines, out := io.Pipe()
	var errors safeBuffer
	ended := make(chan int, 1)
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, more...)
		ended <- dispatch(ctx, streams{strings.NewReader(""), out, &errors}, args)
		out.Close()
	}()
	var printed bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(printed.String(), "\n") {
		n, err := lines.Read(buffer)
		printed.Write(buffer[:n])
		if err != nil {
			t.Fatalf("serve printed %q and ended: %s", printed.String(), errors.String())
		}
	}
	s := &served{link: strings.TrimPrefix(strings.TrimSpace(printed.String()), "Open ")}
	raw, err := os.ReadFile(filepath.Join(data, serverFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s.info); err != nil {
		t.Fatalf("read %s: %v", raw, err)
	}
	stopped := false
	s.stop = func() result {
		if stopped {
			return result{}
		}
		stopped = true
		cancel()
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		select {
		case code := <-ended:
			return result{code, printed.String(), errors.String()}
		case <-time.After(restWithin):
			t.Error("serve did not stop")
			return result{code: -1}
		}
	}
	t.Cleanup(func() { s.stop() })
	return s
}

// TestP36a_ServePrintsALinkAndAnnouncesItself: the line, the file with its
// mode, and what is left after a stop.
func TestP36a_ServePrintsALinkAndAnnouncesItself(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startServe(t, cfg.Data)
	if !strings.HasPrefix(s.link, s.info.URL+"/signin?token=") || !strings.HasPrefix(s.info.URL, "http://127.0.0.1:") || s.info.Token == "" {
		t.Fatalf("got link %q and %+v, want a link to the address announced", s.link, s.info)
	}
	stat, err := os.Stat(filepath.Join(cfg.Data, serverFile))
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v and %v, want 0600", stat.Mode(), err)
	}
	key, err := os.Stat(filepath.Join(cfg.Data, sealKeyFile))
	if err != nil || key.Mode().Perm() != 0o600 {
		t.Errorf("seal key: got mode %v and %v, want 0600", key.Mode(), err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(s.link)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("the link: got %d and %d cookies, want 303 and a session", resp.StatusCode, len(resp.Cookies()))
	}
	if got := s.stop(); got.code != exitYes || strings.Count(got.out, "\n") != 1 {
		t.Errorf("got exit code %d and output %q, want 0 and the link on a line of its own", got.code, got.out)
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, serverFile)); !os.IsNotExist(err) {
		t.Errorf("%s is still there after the stop: %v", serverFile, err)
	}
}

// TestP34_OneProgramHoldsTheData: the second gets exit code 3, in words, and
// commands that only read still work.
func TestP34_OneProgramHoldsTheData(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	a, err := open(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"run", "show disk usage"}, {"erase", "r_x", "--reason", "test"}, {"token", "add", "--name", "x"}} {
		got := sluice(t, "", append(args, "--data", cfg.Data)...)
		if got.code != exitUnavailable || !strings.Contains(got.err, "locked") || got.out != "" {
			t.Errorf("%s: got exit code %d, %q, want 3 and that it is locked", args[0], got.code, got.err)
		}
	}
	if got := sluice(t, "", "audit", "verify", "--data", cfg.Data); got.code != exitYes {
		t.Errorf("audit verify beside it: got exit code %d, want 0: %s", got.code, got.err)
	}
}

// TestP34_ALeftoverFileIsNoServer: after a kill the address of server.json may
// belong to somebody else, or to nobody.
func TestP34_ALeftoverFileIsNoServer(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for _, text := range []string{`{"url":"` + other.URL + `","token":"x"}`, `{"url":"http://` + dead.Addr().String() + `","token":"x"}`, `{}`, `nonsense`} {
		writeFile(t, filepath.Join(cfg.Data, serverFile), text)
		if got := sluice(t, "", "run", "show disk usage", "--data", cfg.Data); got.code != exitYes {
			t.Errorf("with %s: got exit code %d, want 0 in this process: %s", text, got.code, got.err)
		}
	}
	a, err := open(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if got := sluice(t, "", "run", "show disk usage", "--data", cfg.Data); got.code != exitUnavailable {
		t.Errorf("locked, with a file that leads nowhere: got exit code %d, want 3: %s", got.code, got.err)
	}
}

// TestP42_OnlyLoopbackIsServed while there are no passwords.
func TestP42_OnlyLoopbackIsServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:80", "127.0.0.1", "localhost.evil.example:80", "0:0"} {
		got := sluice(t, "", "serve", "--listen", address, "--data", t.TempDir())
		if got.code != exitUsage || got.out != "" {
			t.Errorf("listen on %s: got exit code %d, want 2: %s", address, got.code, got.err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "[::1]:0", "127.9.9.9:0"} {
		if err := checkListen(address); err != nil {
			t.Errorf("listen on %s: got %v, want it taken", address, err)
		}
	}
}

// TestP42_AnAddressInUseIsUnavailable and named.
func TestP42_AnAddressInUseIsUnavailable(t *testing.T) {
	t.Parallel()
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	got := sluice(t, "", "serve", "--listen", used.Addr().String(), "--data", t.TempDir())
	if got.code != exitUnavailable || !strings.Contains(got.err, used.Addr().String()) {
		t.Errorf("got exit code %d, %q, want 3 naming the address", got.code, got.err)
	}
}

// TestP42_FlagBeforeEnvironmentBeforeFile, for each setting.
func TestP42_FlagBeforeEnvironmentBeforeFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sluice.yaml")
	writeFile(t, file, "data: "+dir+"/file\nlisten: 127.0.0.1:1001\nworkspace: "+dir+"/file-ws\npolicy: file.yaml\n")
	for _, name := range []string{"SLUICE_DATA", "SLUICE_LISTEN", "SLUICE_WORKSPACE", "SLUICE_POLICY", "SLUICE_CONFIG", "SLUICE_VERBOSE"} {
		t.Setenv(name, "")
	}
	settle := func(c config) config {
		t.Helper()
		if err := c.settle(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Setenv("XDG_STATE_HOME", dir+"/state")
	if got := settle(config{}); got.Data != dir+"/state/sluice" || got.Workspace != dir+"/state/sluice/workspace" || got.Listen != defaultListen || got.Policy != "" {
		t.Errorf("nothing set: got %+v, want the XDG state folder and the defaults", got)
	}
	want := config{Data: dir + "/file", Listen: "127.0.0.1:1001", Workspace: dir + "/file-ws", Policy: "file.yaml", file: file}
	if got := settle(config{file: file}); got != want {
		t.Errorf("file: got %+v, want %+v", got, want)
	}
	t.Setenv("SLUICE_DATA", dir+"/env")
	t.Setenv("SLUICE_LISTEN", "127.0.0.1:1002")
	t.Setenv("SLUICE_WORKSPACE", dir+"/env-ws")
	t.Setenv("SLUICE_POLICY", "env.yaml")
	want = config{Data: dir + "/env", Listen: "127.0.0.1:1002", Workspace: dir + "/env-ws", Policy: "env.yaml", file: file}
	if got := settle(config{file: file}); got != want {
		t.Errorf("environment: got %+v, want %+v", got, want)
	}
	flags := config{Data: dir + "/flag", Listen: "127.0.0.1:1003", Workspace: dir + "/flag-ws", Policy: "flag.yaml", file: file}
	if got := settle(flags); got != flags {
		t.Errorf("flags: got %+v, want %+v", got, flags)
	}
	t.Setenv("SLUICE_DATA", "")
	t.Setenv("SLUICE_CONFIG", file)
	if got := settle(config{}); got.Data != dir+"/file" {
		t.Errorf("SLUICE_CONFIG: got data %s, want that of the file", got.Data)
	}
}

// TestP42_ABadConfigurationIsRefused: unknown keys, wrong types, no file.
func TestP42_ABadConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	for _, text := range []string{"colour: red\n", "listen: [1]\n", "\x00", "data: a\ndata: b\n", strings.Repeat("# x\n", 40<<10)} {
		writeFile(t, file, text)
		got := sluice(t, "", "audit", "verify", "--config", file)
		if got.code != exitUsage || !strings.Contains(got.err, "configuration") {
			t.Errorf("%.20q: got exit code %d, %.200s, want 2", text, got.code, got.err)
		}
	}
	if got := sluice(t, "", "run", "x", "--config", file+".none"); got.code != exitUsage {
		t.Errorf("no file: got exit code %d, want 2", got.code)
	}
}
