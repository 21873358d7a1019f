package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/policy"
)

// answering is a scripted tool with one answer.
func answering(name string, effect policy.Effect, output string, err error) Extra {
	return scripted(name, effect, func(context.Context, Request) ([]byte, error) { return []byte(output), err })
}

// P24: whatever makes a tool unavailable, the outcome is the same to the byte.
func TestP24_UnavailableIsOneConstantText(t *testing.T) {
	refused := func(ctx context.Context, _ Request) ([]byte, error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address := listener.Addr().String()
		if err := listener.Close(); err != nil {
			return nil, err
		}
		_, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
		return nil, err
	}
	w := newWorld(t, []string{"PATH=" + t.TempDir()},
		scripted("test.refused", policy.Read, refused),
		answering("test.unexplained", policy.Read, "", errors.New("status 503: deny by rule A1")),
		answering("test.denied", policy.Read, "", &fs.PathError{Op: "open", Path: "/etc/shadow", Err: fs.ErrPermission}),
		answering("test.detailed", policy.Read, "", Fail(Unavailable, "a detail that must not be seen")))
	w.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	causes := map[string]Outcome{
		"missing program":     w.perform("git.status", `{"path":"repo"}`),
		"refused connection":  w.perform("test.refused", `{}`),
		"unexplained":         w.perform("test.unexplained", `{}`),
		"refused by system":   w.perform("test.denied", `{}`),
		"detail of a tool":    w.perform("test.detailed", `{}`),
		"grant of other call": w.executor.Perform(context.Background(), Job{Call: w.call("sysinfo", `{}`), Params: []byte(`{}`)}),
	}
	want := seen(Outcome{Class: Unavailable, Detail: UnavailableText})
	for cause, out := range causes {
		if got := seen(out); got != want {
			t.Errorf("%s: got %s, want %s", cause, got, want)
		}
	}
}

// seen is what of an outcome can reach a model.
func seen(o Outcome) string {
	text, err := json.Marshal([]any{o.Output, o.Class, o.Detail})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestP5_TimeoutAndStopAreToldApart(t *testing.T) {
	wait := func(ctx context.Context, _ Request) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w := newWorld(t, nil, scripted("test.wait", policy.Once, wait))
	job := w.job("test.wait", `{}`)
	job.Timeout = time.Millisecond
	if out := w.executor.Perform(context.Background(), job); out.Class != Timeout || out.BeforeSend {
		t.Errorf("deadline: got %q, before send %v; want timeout of unknown outcome", out.Class, out.BeforeSend)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	w = newWorld(t, nil, scripted("test.wait", policy.Once, func(ctx context.Context, r Request) ([]byte, error) {
		close(started)
		return wait(ctx, r)
	}))
	go func() {
		<-started
		cancel()
	}()
	if out := w.executor.Perform(ctx, w.job("test.wait", `{}`)); out.Class != Stopped || out.BeforeSend {
		t.Errorf("cancel: got %q, before send %v; want stopped of unknown outcome", out.Class, out.BeforeSend)
	}
}

func TestP7_NothingIsBegunAfterAStop(t *testing.T) {
	extra, ran := counting("test.a", policy.Once)
	w := newWorld(t, nil, extra)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	job := w.job("test.a", `{}`)
	if out := w.executor.Perform(ctx, job); out.Class != Stopped || !out.BeforeSend || ran.Load() != 0 {
		t.Errorf("got %q, before send %v, %d runs; want stopped before send and no run", out.Class, out.BeforeSend, ran.Load())
	}
	if out := w.executor.Perform(context.Background(), job); out.Class != OK {
		t.Errorf("the grant was spent by an attempt that never began: %q %v", out.Class, out.Fault)
	}
}

// A call that the system holds on to cannot hold the run.
func TestP7_AHungToolIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, nil, scripted("test.hung", policy.Read, func(context.Context, Request) ([]byte, error) {
			<-release
			return []byte(`{}`), nil
		}))
		job := w.job("test.hung", `{}`)
		job.Timeout = time.Second
		start := time.Now()
		out := w.executor.Perform(context.Background(), job)
		if took := time.Since(start); out.Class != Timeout || took != time.Second+abandonAfter {
			t.Errorf("got %q after %v, want timeout after %v", out.Class, took, time.Second+abandonAfter)
		}
		close(release)
	})
}

func TestP5_APanicStaysInside(t *testing.T) {
	panicking := func(context.Context, Request) ([]byte, error) { panic("value s3cr3t-canary-value") }
	env := []string{"API_TOKEN=s3cr3t-canary-value"}
	w := newWorld(t, env, scripted("test.read", policy.Read, panicking), scripted("test.once", policy.Once, panicking))
	for tool, class := range map[string]FailureClass{"test.read": Invalid, "test.once": Transient} {
		out := w.perform(tool, `{}`)
		if out.Class != class || out.Detail != internalText || out.BeforeSend || out.Fault == nil {
			t.Errorf("%s: got %q %q before send %v fault %v; want %q with the constant text", tool, out.Class, out.Detail, out.BeforeSend, out.Fault, class)
		}
		if out.Fault != nil && strings.Contains(out.Fault.Error(), "canary") {
			t.Errorf("%s: the fault shows a secret: %v", tool, out.Fault)
		}
	}
}

func TestP30_OutputIsOneJSONValueWithinTheCap(t *testing.T) {
	cases := map[string]struct {
		output string
		class  FailureClass
	}{
		"at the cap":      {`"` + strings.Repeat("x", InlineBytesMax-2) + `"`, OK},
		"above the cap":   {`"` + strings.Repeat("x", InlineBytesMax-1) + `"`, Invalid},
		"nothing":         {``, Invalid},
		"two values":      {`{} {}`, Invalid},
		"not JSON":        {`{"a":}`, Invalid},
		"duplicate key":   {`{"a":1,"a":2}`, Invalid},
		"not UTF-8":       {"\"\xff\"", Invalid},
		"64 deep":         {strings.Repeat("[", 64) + strings.Repeat("]", 64), OK},
		"65 deep":         {strings.Repeat("[", 65) + strings.Repeat("]", 65), Invalid},
		"brackets quoted": {`"` + strings.Repeat(`[\"`, 100) + `"`, OK},
	}
	for name, c := range cases {
		w := newWorld(t, nil, answering("test.a", policy.Read, c.output, nil))
		out := w.perform("test.a", `{}`)
		if out.Class != c.class || (out.Output != nil) != (c.class == OK) {
			t.Errorf("%s: got class %q and %d bytes, want %q", name, out.Class, len(out.Output), c.class)
		}
	}
}

func TestP30_AToolsOwnCapHolds(t *testing.T) {
	large := answering("test.a", policy.Read, `"`+strings.Repeat("x", 2*InlineBytesMax)+`"`, nil)
	large.entry.decl.Bytes = 4 * InlineBytesMax
	w := newWorld(t, nil, large)
	if out := w.perform("test.a", `{}`); out.Class != OK || len(out.Output) != 2*InlineBytesMax+2 {
		t.Errorf("got class %q and %d bytes, want the whole output", out.Class, len(out.Output))
	}
}

func TestP26_DetailsAreShortAndRedacted(t *testing.T) {
	secret := "p4ssw0rd-canary-0123456789"
	detail := strings.Repeat("é", DetailBytesMax/2-5) + secret
	w := newWorld(t, []string{"DB_PASSWORD=" + secret},
		answering("test.a", policy.Read, "", Fail(NotFound, "no "+secret)),
		answering("test.b", policy.Read, "", Fail(Conflict, detail)))
	if out := w.perform("test.a", `{}`); out.Detail != "no [redacted:DB_PASSWORD]" || out.Class != NotFound || !out.BeforeSend {
		t.Errorf("got %q %q", out.Class, out.Detail)
	}
	out := w.perform("test.b", `{}`)
	if len(out.Detail) > DetailBytesMax || strings.Contains(out.Detail, "p4ss") || !json.Valid([]byte(quote(out.Detail))) {
		t.Errorf("got %d bytes: %q", len(out.Detail), out.Detail)
	}
}

func TestR53_TheRequestCarriesTheAttempt(t *testing.T) {
	var got Request
	w := newWorld(t, nil, scripted("test.a", policy.Idempotent, func(_ context.Context, r Request) ([]byte, error) {
		got = r
		return []byte(`{}`), nil
	}))
	job := w.job("test.a", `{"b":1,"a":"x"}`)
	job.Call.Key, job.Key = "", "key-7"
	w.executor.Perform(context.Background(), job)
	want := `{"a":"x","b":1} r_1 n 1 key-7`
	if text := fmt.Sprintf("%s %s %s %d %s", got.Params, got.Run, got.Node, got.Attempt, got.Key); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestR53_OutcomesAreStampedByTheClockGiven(t *testing.T) {
	now := time.Unix(1000, 0)
	registry, err := New(Config{Workspace: t.TempDir(), Env: func() []string { return nil }, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer registry.Close()
	out := NewExecutor(registry).Perform(context.Background(), Job{})
	if out.Started.Unix() != 1001 || out.Ended.Unix() != 1002 {
		t.Errorf("got %v to %v, want 1001 to 1002", out.Started.Unix(), out.Ended.Unix())
	}
}
