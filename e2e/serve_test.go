//go:build e2e

package e2e

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startWithin = 60 * time.Second // a race-built machine with cold caches
	stopWithin  = 20 * time.Second // running effects get 10 s (P7)
)

// server is one `sluice serve` process with a data directory of its own.
type server struct {
	t       *testing.T
	binary  string
	data    string // outlives restarts
	address string // 127.0.0.1:PORT, the same after a restart
	env     []string
	link    string // the sign-in link of the present process
	cmd     *exec.Cmd
	out     *output
	ended   chan struct{}
}

// output is what a process printed so far; safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed and renewed on every write
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return o.text.Write(p)
}

func (o *output) read() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.more
}

// serve starts the shipped binary on a free port with a fresh data directory.
func serve(t *testing.T) *server {
	t.Helper()
	return serveWith(t, must(t, shipped), t.TempDir())
}

// serveWith starts a given binary on a given data directory; env entries such as
// "NAME=value" are added to the environment.
func serveWith(t *testing.T, binary, data string, env ...string) *server {
	t.Helper()
	s := &server{t: t, binary: binary, data: data, address: freeAddress(t), env: env}
	t.Cleanup(func() {
		s.stop()
		if text, _ := s.out.read(); t.Failed() {
			t.Logf("server output:\n%s", text)
		}
	})
	s.start()
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

var signin = regexp.MustCompile(`(?m)^Open (http://\S+/signin\?token=\S+)$`)

// start runs the process until it has printed its link (P36a).
func (s *server) start() {
	s.t.Helper()
	s.out, s.ended = newOutput(), make(chan struct{})
	s.cmd = exec.Command(s.binary, "serve", "--listen", s.address, "--data", s.data)
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start server: %v", err)
	}
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // how it ended is what each test checks
		close(ended)
	}(s.cmd, s.ended)
	s.link = s.print(signin)[1]
}

// print waits until the process has printed a match and gives its groups.
func (s *server) print(want *regexp.Regexp) []string {
	s.t.Helper()
	deadline := time.After(startWithin)
	for {
		text, more := s.out.read()
		if hit := want.FindStringSubmatch(text); hit != nil {
			return hit
		}
		select {
		case <-more:
		case <-s.ended:
			s.t.Fatalf("server ended before it printed %v:\n%s", want, text)
		case <-deadline:
			s.t.Fatalf("server did not print %v within %v:\n%s", want, startWithin, text)
		}
	}
}

// kill ends the process at once, as a power cut would.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil && !strings.Contains(err.Error(), "finished") {
		s.t.Fatalf("kill server: %v", err)
	}
	<-s.ended
}

// stop asks the process to end and insists when it does not.
func (s *server) stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-s.ended:
	case <-time.After(stopWithin):
		s.t.Errorf("server did not stop within %v of SIGTERM", stopWithin)
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// died waits for the process to end by itself, as a kill point makes it.
func (s *server) died() {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(startWithin):
		s.t.Fatalf("server still runs after %v", startWithin)
	}
}

func (s *server) url(path string) string { return "http://" + s.address + path }
