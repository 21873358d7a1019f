//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// noViolation looks at a page in every view.
func (p *tab) noViolation(name string) {
	p.t.Helper()
	address := script[string](p, "location.href")
	for _, v := range views {
		p.look(v)
		p.visit(address)
		for _, found := range p.axe() {
			p.t.Errorf("%s %d %s: %s (%s):\n  %s", name, v.width, v.scheme, found.ID, found.Help, strings.Join(found.Where, "\n  "))
		}
		if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			p.t.Errorf("%s %d: the page is %d px wider than the window", name, v.width, wide)
		}
		p.shot(fmt.Sprintf("%s-%d-%s", name, v.width, v.scheme))
	}
	p.look(desktop)
	p.visit(address)
}

// TestR102_RunBecomesATemplateAndRunsWithOtherValues in the browser.
func TestR102_RunBecomesATemplateAndRunsWithOtherValues(t *testing.T) {
	s := serve(t)
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "first file")
	writeFile(t, filepath.Join(s.data, "workspace", "other.txt"), "second file")
	api := s.api("observe")
	p := open(t, desktop)
	p.signIn(s)
	p.submit(s, "Read notes.txt and show the kernel version", "Observe")
	id := p.runID()
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got %s, want SUCCESS", r.Code)
	}
	p.visit(s.url("/runs/" + id + "?view=list"))
	p.click("link", "Save as template")
	p.says("Values that vary")
	p.noViolation("template-new")
	p.enter("textbox", "Title", "Read one note")
	script[bool](p, `(() => { document.getElementById("name").value = "Read one"; document.getElementById("name").removeAttribute("pattern"); return true })()`)
	p.click("button", "Save template")
	p.says("It was not saved")
	p.excuse() // the browser notes the 422
	script[bool](p, `(() => { document.getElementById("name").value = "read-one"; return true })()`)
	p.click("button", "Save template")
	p.wait("template page", func() bool { return script[string](p, "location.pathname") == "/templates/read-one" })
	p.says("Read one note")
	p.says("a run that succeeded")
	p.noViolation("template")
	script[bool](p, `(() => { document.querySelector("input[name='slot.path']").value = "other.txt"; return true })()`)
	p.click("button", "Run")
	p.wait("run page", func() bool { return script[bool](p, `/^\/runs\/r_/.test(location.pathname)`) })
	second := p.runID()
	r := api.until(second, "ended")
	if r.Code != "SUCCESS" || !strings.Contains(fmt.Sprint(r.Verdict), "second file") && !strings.Contains(fmt.Sprint(r.Verdict), "other.txt") {
		t.Errorf("got %s %+v, want SUCCESS with the other file", r.Code, r.Verdict)
	}
	p.visit(s.url("/templates"))
	p.says("Check this host")
	p.says("Mail overdue invoices")
	p.noViolation("templates")

	c := command(t, s.binary, "", "template", "run", "read-one", "--set", "path=notes.txt", "--data", s.data, "--json")
	if got := decode[struct{ Code, Template, Goal string }](t, c.wantCode(t, 0)); got.Template != "read-one@1" || !strings.Contains(got.Goal, "notes.txt") {
		t.Errorf("got %+v, want a run of read-one@1", got)
	}
	for text, body := range map[string]map[string]any{
		"a mistyped value": {"template": map[string]any{"name": "read-one", "values": map[string]any{"path": 5}}},
		"an unknown slot":  {"template": map[string]any{"name": "read-one", "values": map[string]any{"tool": "file.delete"}}},
	} {
		if status, answer := api.do(http.MethodPost, "/runs", body); status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), "/template/values/") {
			t.Errorf("%s: got %d %s, want 422 with the place", text, status, answer)
		}
	}
	if status, body := api.do(http.MethodPost, "/templates", map[string]any{"run": second, "name": "x", "title": "x"}); status != http.StatusForbidden {
		t.Errorf("a token saves a template: got %d %s, want 403", status, body)
	}
	audit := command(t, s.binary, "", "audit", "verify", "--data", s.data, "--json")
	audit.wantCode(t, 0)
}

// letters is a mail server that keeps what it is given.
type letters struct {
	address string
	mu      sync.Mutex
	mails   []string
}

func mailServer(t *testing.T) *letters {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &letters{address: listener.Addr().String()}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { m.talk(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); wait.Wait() })
	return m
}

func (m *letters) talk(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 ready\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			var text strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			m.mu.Lock()
			m.mails = append(m.mails, text.String())
			m.mu.Unlock()
			fmt.Fprint(conn, "250 taken\r\n")
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func (m *letters) kept() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.mails...)
}

// TestR104_OverdueInvoicesAreMailedAfterApproval runs the shipped finance example
// whole: read, filter, decide by rule, ask a person, send.
func TestR104_OverdueInvoicesAreMailedAfterApproval(t *testing.T) {
	post := mailServer(t)
	dir := t.TempDir()
	rules := filepath.Join(dir, "policy.yaml")
	writeFile(t, rules, "version: 1\nintents: {observe: 0, operate: 100, override: 200}\n"+
		"scopes: {default: {tools: [sysinfo, file.read, compute, mail.send]}}\napprovals: {self: allowed}\n")
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format("2006-01-02") }
	writeFile(t, filepath.Join(dir, "data", "workspace", "finance", "invoices.csv"), "number,customer,amount,due,paid\n"+
		"A-1,Ada,100.50,"+day(45)+",no\nA-2,Bob,20,"+day(10)+",no\nA-3,Cy,70,"+day(90)+",yes\nA-4,Dee,9.50,"+day(31)+",no\n")
	s := serveWith(t, must(t, shipped), filepath.Join(dir, "data"), "SLUICE_POLICY="+rules, "SLUICE_SMTP="+post.address,
		"SLUICE_SMTP_FROM=sluice@example.org", "SLUICE_SMTP_TLS=none")
	api := s.api("override")
	id := api.submit(map[string]any{"intent": "override",
		"template": map[string]any{"name": "overdue-invoices", "values": map[string]any{"to": "ana@example.org", "days": 30}}})
	r := api.until(id, "waiting", "ended")
	if r.Status != "waiting" || len(r.Waiting) != 1 || len(post.kept()) != 0 {
		t.Fatalf("got %+v and %d mails, want one approval and no mail", r, len(post.kept()))
	}
	who := s.person()
	if status, body := who.post("/api/v1/approvals/"+r.Waiting[0], api.verdict(r.Waiting[0], "approve")); status != http.StatusOK {
		t.Fatalf("approve: got %d %s", status, body)
	}
	if r = api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got %s %v, want SUCCESS", r.Code, r.Causes)
	}
	mails := post.kept()
	if len(mails) != 1 {
		t.Fatalf("got %d mails, want 1", len(mails))
	}
	for _, want := range []string{"A-1", "A-4", "ana@example.org", "2 overdue invoices", "Total: 110"} {
		if !strings.Contains(mails[0], want) {
			t.Errorf("the mail lacks %q:\n%s", want, mails[0])
		}
	}
	for _, not := range []string{"A-2", "A-3"} {
		if strings.Contains(mails[0], not) {
			t.Errorf("the mail has %s, which is paid or not overdue:\n%s", not, mails[0])
		}
	}

	quiet := api.submit(map[string]any{"intent": "override",
		"template": map[string]any{"name": "overdue-invoices", "values": map[string]any{"to": "ana@example.org", "days": 365}}})
	if r := api.until(quiet, "ended", "waiting"); r.Code != "SUCCESS" || len(post.kept()) != 1 {
		t.Errorf("got %s and %d mails, want SUCCESS without another mail", r.Code, len(post.kept()))
	}
	words := api.submit(map[string]any{"intent": "override", "goal": "Mail ana@example.org the invoices overdue by more than 40 days"})
	if r := api.until(words, "waiting", "ended"); r.Status != "waiting" {
		t.Errorf("got %s %s of a goal in words, want the template's approval", r.Status, r.Code)
	}
}
