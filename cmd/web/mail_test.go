package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// postbox takes mail on this machine; a mute one never confirms what it took.
type postbox struct {
	listener net.Listener
	isMute   bool
	mu       sync.Mutex
	mails    []string
}

func newPostbox(t *testing.T, isMute bool) *postbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &postbox{listener: listener, isMute: isMute}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.talk(conn)
		}
	}()
	return p
}

func (p *postbox) talk(conn net.Conn) {
	defer conn.Close()
	fmt.Fprint(conn, "220 post\r\n")
	var content *strings.Builder
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		switch {
		case content != nil && line != ".":
			content.WriteString(line + "\n")
			continue
		case content != nil:
			p.mu.Lock()
			p.mails = append(p.mails, content.String())
			p.mu.Unlock()
			if content = nil; p.isMute {
				return
			}
		case line == "DATA":
			content = &strings.Builder{}
			fmt.Fprint(conn, "354 go on\r\n")
			continue
		}
		fmt.Fprint(conn, "250 yes\r\n")
	}
}

func (p *postbox) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.mails...)
}

// reminders reads a table, finds what is overdue and writes to those who owe.
func reminders(t *testing.T, p *postbox) (*caller, *shape) {
	t.Helper()
	cfg := withPolicy(t, testConfig(t), "approvals: {self: allowed}\n")
	cfg.SMTP = mailConfig{Server: p.listener.Addr().String(), From: "Sluice <sluice@example.org>", TLS: "none"}
	writeFile(t, filepath.Join(cfg.Workspace, "invoices.csv"), "id,due,mail\n1,2026-01-02,ann@example.com\n2,2026-03-01,bob@example.com\n3,2026-01-09,cat@example.com\n")
	o := worldOf(t, cfg).operator()
	code := `def main(text):\n  late = [r for r in csv(text) if days_between(r['due'], '2026-02-15') > 30]\n  return {'to': [r['mail'] for r in late], 'body': 'Overdue: ' + ', '.join([r['id'] for r in late])}`
	return o, o.runToRest(`{"intent":"override","plan":` + planOf(
		`{"id":"read","tool":"file.read","params":{"path":"invoices.csv"}}`,
		`{"id":"late","tool":"compute","params":{"code":"`+code+`"},"param_refs":{"input":{"step":"read","field":"content"}}}`,
		`{"id":"mail","tool":"mail.send","params":{"subject":"Reminder"},"param_refs":{"to":{"step":"late","field":"value.to"},"body":{"step":"late","field":"value.body"}}}`) + `}`)
}

// TestR73_AMailIsShownWholeBeforeItIsSent, and is sent as it was shown.
func TestR73_AMailIsShownWholeBeforeItIsSent(t *testing.T) {
	t.Parallel()
	p := newPostbox(t, false)
	o, r := reminders(t, p)
	if len(r.Waiting) != 1 || len(p.taken()) != 0 {
		t.Fatalf("got %+v and %d mails, want one request and no mail", r, len(p.taken()))
	}
	page := o.get("/approvals/" + r.Waiting[0]).text()
	for _, want := range []string{"Send 1 email to 2 external addresses", "To: ann@example.com, cat@example.com", "Subject: Reminder", "Overdue: 1, 3", "Cannot be undone", "Untrusted value"} {
		if !strings.Contains(page, want) {
			t.Errorf("the packet does not say %q", want)
		}
	}
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", o.hashOf(r.Waiting[0]), "")), nil)
	if end := o.end(r.ID); end.code() != "SUCCESS" {
		t.Errorf("got %s %v", end.code(), end.Causes)
	}
	if got := p.taken(); len(got) != 1 || !strings.Contains(got[0], "Overdue: 1, 3") || !strings.Contains(got[0], "Message-ID: <") {
		t.Errorf("got %d mails: %q", len(got), got)
	}
}

// TestP5_AMailThatNobodyConfirmedIsAsked, and never sent a second time by itself.
func TestP5_AMailThatNobodyConfirmedIsAsked(t *testing.T) {
	t.Parallel()
	p := newPostbox(t, true)
	o, r := reminders(t, p)
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", o.hashOf(r.Waiting[0]), "")), nil)
	question := "q." + r.ID + ".mail.1"
	waiting := o.restAt(r.ID, question)
	if waiting.Status != "waiting" || len(p.taken()) != 1 {
		t.Fatalf("got %s after %d mails, want a question after one", waiting.Status, len(p.taken()))
	}
	if page := o.get("/approvals/" + question).text(); !strings.Contains(page, "Was this done? Send 1 email to 2 external addresses") {
		t.Errorf("the question does not say what it is about: %.300s", page)
	}
	o.want(http.StatusOK, o.post("/api/v1/runs/"+r.ID+"/nodes/mail/outcome", `{"attempt":1,"outcome":"done","note":"it is in the box"}`), nil)
	if end := o.end(r.ID); end.code() != "SUCCESS" || len(p.taken()) != 1 {
		t.Errorf("got %s after %d mails, want SUCCESS after one", end.code(), len(p.taken()))
	}
}

// restAt waits until a question is open.
func (c *caller) restAt(id, question string) *shape {
	c.Helper()
	woken, stop := c.app.shell.Watch(id)
	defer stop()
	for {
		if c.get("/approvals/"+question).status == http.StatusOK {
			return c.rest(id)
		}
		select {
		case <-woken:
		case <-c.Context().Done():
			c.Fatalf("run %s has no question %s", id, question)
		}
	}
}
