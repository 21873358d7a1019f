package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/store"
)

// approvalWire is what tests read of an approval.
type approvalWire struct {
	ID        string   `json:"id"`
	State     string   `json:"state"`
	Hash      string   `json:"hash"`
	By        string   `json:"by"`
	Reason    string   `json:"reason"`
	Approvers []string `json:"approvers"`
	DecidedAt *string  `json:"decided_at"`
}

// policyHead is the part of a document that the tests do not vary.
const policyHead = `version: 1
intents: {observe: 0, operate: 100, override: 200}
scopes: {default: {tools: ["*"]}}
tools: {file.delete: {impact: override}}
`

// withPolicy writes a policy document and names it in the configuration.
func withPolicy(t *testing.T, cfg config, tail string) config {
	t.Helper()
	cfg.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, cfg.Policy, policyHead+tail)
	return cfg
}

func verdictOf(verdict, hash, reason string) string {
	return `{"verdict":"` + verdict + `","hash":"` + hash + `","reason":"` + reason + `"}`
}

func (s *scene) path() string { return "/api/v1/approvals/" + s.approval }

func (s *scene) fileIsThere() bool {
	_, err := os.Stat(filepath.Join(s.app.cfg.Workspace, "notes.txt"))
	return err == nil
}

// TestP23_AVerdictNeedsItsHashAndItsReason: what is refused leaves the request
// as it was, and what is decided is decided once, with who and when.
func TestP23_AVerdictNeedsItsHashAndItsReason(t *testing.T) {
	s := newScene(t)
	before := s.content()
	other := "sha256:" + strings.Repeat("0", 64)
	if p := s.approver.problemOf(http.StatusConflict, s.approver.post(s.path(), verdictOf("approve", other, ""))); p.Code != "conflict" {
		t.Errorf("another hash: got %+v, want a conflict", p)
	}
	s.approver.problemOf(http.StatusConflict, s.approver.post(s.path(), verdictOf("approve", "", "")))
	s.approver.problemOf(http.StatusUnprocessableEntity, s.approver.post(s.path(), verdictOf("deny", s.hash, "")))
	s.approver.problemOf(http.StatusUnprocessableEntity, s.approver.post(s.path(), verdictOf("deny", s.hash, "  ")))
	s.approver.problemOf(http.StatusUnprocessableEntity, s.approver.post(s.path(), verdictOf("maybe", s.hash, "x")))
	s.auditor.problemOf(http.StatusForbidden, s.auditor.post(s.path(), verdictOf("approve", s.hash, "")))
	s.owner.problemOf(http.StatusForbidden, s.owner.post(s.path(), verdictOf("approve", s.hash, "")))
	s.approver.problemOf(http.StatusNotFound, s.approver.post("/api/v1/approvals/a_nothing", verdictOf("approve", s.hash, "")))
	if after := s.content(); after != before || !s.fileIsThere() {
		t.Fatalf("a refused verdict changed something:\n%s\n%s", before, after)
	}
	var a approvalWire
	s.approver.want(http.StatusOK, s.approver.post(s.path(), verdictOf("deny", s.hash, "not today")), &a)
	if a.State != "denied" || a.By != s.approver.user || a.Reason != "not today" || a.DecidedAt == nil {
		t.Errorf("got %+v, want it denied by %s with the reason", a, s.approver.user)
	}
	for _, c := range []*caller{s.approver, s.root} {
		p := c.problemOf(http.StatusConflict, c.post(s.path(), verdictOf("approve", s.hash, "")))
		if p.Who != s.approver.user || p.When == "" {
			t.Errorf("decided twice: got who %q and when %q, want %s and a time", p.Who, p.When, s.approver.user)
		}
	}
	r := s.owner.rest(s.run)
	if r.code() != "PERMISSION_DENIED" || strings.Join(r.Causes, " ") != "rejected" || !s.fileIsThere() {
		t.Errorf("got %s %v and file there %v, want PERMISSION_DENIED [rejected] and the file", r.code(), r.Causes, s.fileIsThere())
	}
}

// TestP23_AnApprovalRunsTheCallOnce, and its packet tells who it was.
func TestP23_AnApprovalRunsTheCallOnce(t *testing.T) {
	s := newScene(t)
	got := s.approver.form("/approvals/"+s.approval+"/decision", url.Values{"decision": {"approve"}, "hash": {s.hash}}.Encode())
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/approvals/"+s.approval {
		t.Fatalf("got %d to %s, want 303 to the packet", got.status, got.header.Get("Location"))
	}
	if r := s.owner.rest(s.run); r.code() != "SUCCESS" || s.fileIsThere() {
		t.Errorf("got %s and file there %v, want SUCCESS and no file", r.code(), s.fileIsThere())
	}
	packet := s.auditor.get("/approvals/" + s.approval).text()
	if !strings.Contains(packet, "Approved once by approver") || strings.Contains(packet, `value="approve"`) {
		t.Errorf("the packet does not say who approved, or still offers to: %s", between(t, packet, `<div class="decided"`, "</article>"))
	}
	kinds := map[string]int{}
	for _, f := range s.owner.facts(s.run, 100) {
		kinds[f.Kind]++
	}
	if kinds["approval.requested"] != 1 || kinds["approval.decided"] != 1 {
		t.Errorf("got facts %v, want one request and one decision", kinds)
	}
}

// TestP23_TheRequesterDecidesOnlyWhereThePolicySaysSo (security.md:
// self-approval), by API, by form, and with another session.
func TestP23_TheRequesterDecidesOnlyWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		policy string
		status int
	}{
		{"approvals: {self: denied, rules: [{id: A1, when: {impact_at_least: override}, per: call, quorum: 1, roles: [approver], expires_s: 600}]}\n", http.StatusForbidden},
		{"approvals: {rules: [{id: A1, when: {impact_at_least: override}, per: call, quorum: 1, roles: [approver], expires_s: 600}]}\n", http.StatusForbidden},
		{"", http.StatusForbidden}, // the defaults of P17 leave self out: denied
		{"approvals: {self: allowed, rules: [{id: A1, when: {impact_at_least: override}, per: call, quorum: 1, roles: [approver], expires_s: 600}]}\n", http.StatusOK},
	} {
		w := worldOf(t, withPolicy(t, testConfig(t), tc.policy))
		o := w.operator()
		r := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
		if len(r.Waiting) != 1 {
			t.Fatalf("policy %q: got %+v, want one approval waiting", tc.policy, r)
		}
		hash := o.hashOf(r.Waiting[0])
		for _, c := range []*caller{o, w.operator()} {
			got := c.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", hash, ""))
			if got.status != tc.status {
				t.Errorf("policy %q: got %d, want %d: %.200s", tc.policy, got.status, tc.status, got.body)
			}
			if tc.status == http.StatusOK {
				break
			}
		}
		if tc.status == http.StatusOK {
			o.rest(r.ID)
			continue
		}
		page := o.get("/approvals/" + r.Waiting[0]).text()
		if strings.Contains(page, `value="approve"`) || !strings.Contains(page, "You cannot decide this") {
			t.Errorf("policy %q: the page offers the requester to decide", tc.policy)
		}
		got := o.form("/approvals/"+r.Waiting[0]+"/decision", url.Values{"decision": {"approve"}, "hash": {hash}}.Encode())
		if got.status != http.StatusForbidden {
			t.Errorf("policy %q by form: got %d, want 403", tc.policy, got.status)
		}
	}
}

// TestP23_RulesNameTheRole: an approver without the role that the rule wants is refused.
func TestP23_RulesNameTheRole(t *testing.T) {
	t.Parallel()
	w := worldOf(t, withPolicy(t, testConfig(t),
		"approvals: {rules: [{id: A7, when: {impact_at_least: override}, per: call, roles: [policy_owner], expires_s: 600}]}\n"))
	owner := w.stranger("owner", store.RoleOperator)
	r := owner.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	plain := w.stranger("plain", store.RoleApprover)
	both := w.stranger("both", store.RoleApprover, store.RolePolicyOwner)
	hash := plain.hashOf(r.Waiting[0])
	p := plain.problemOf(http.StatusForbidden, plain.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", hash, "")))
	if !strings.Contains(p.Detail, "A7") || !strings.Contains(p.Detail, "policy_owner") {
		t.Errorf("got %q, want the rule and the role named", p.Detail)
	}
	for c, mine := range map[*caller]bool{plain: false, both: true} {
		if shown := strings.Contains(c.get("/").text(), r.Waiting[0]); shown != mine {
			t.Errorf("home of %s: got the request shown %v, want %v", c.name, shown, mine)
		}
	}
	both.want(http.StatusOK, both.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", hash, "")), nil)
	if end := owner.rest(r.ID); end.code() != "SUCCESS" {
		t.Errorf("got %s, want SUCCESS", end.code())
	}
}

// TestP23_AQuorumCountsPeople: the same person twice is one.
func TestP23_AQuorumCountsPeople(t *testing.T) {
	t.Parallel()
	w := worldOf(t, withPolicy(t, testConfig(t),
		"approvals: {rules: [{id: A2, when: {impact_at_least: override}, per: call, quorum: 2, roles: [approver], expires_s: 600}]}\n"))
	owner := w.stranger("owner", store.RoleOperator)
	first, second := w.stranger("first", store.RoleApprover), w.stranger("second", store.RoleApprover)
	r := owner.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	path, hash := "/api/v1/approvals/"+r.Waiting[0], first.hashOf(r.Waiting[0])
	var a approvalWire
	first.want(http.StatusOK, first.post(path, verdictOf("approve", hash, "")), &a)
	if a.State != "counted" || len(a.Approvers) != 1 {
		t.Errorf("got %+v, want one of two counted", a)
	}
	first.problemOf(http.StatusConflict, first.post(path, verdictOf("approve", hash, "")))
	if still := owner.rest(r.ID); still.Status != "waiting" {
		t.Errorf("after one approval twice: got %s, want waiting", still.Status)
	}
	if page := first.get("/approvals/" + r.Waiting[0]).text(); strings.Contains(page, `value="approve"`) {
		t.Error("the page offers a second approval to who gave the first")
	}
	second.want(http.StatusOK, second.post(path, verdictOf("approve", hash, "")), &a)
	if end := owner.end(r.ID); end.code() != "SUCCESS" || len(a.Approvers) != 2 {
		t.Errorf("got %s with approvers %v, want SUCCESS with two", end.code(), a.Approvers)
	}
}

// TestP23_OneOfManyApproversWins: of racing verdicts one counts, the others
// hear who was first (security.md: two approvers race, replay).
func TestP23_OneOfManyApproversWins(t *testing.T) {
	s := newScene(t)
	approvers := []*caller{s.approver, s.root}
	for _, name := range []string{"third", "fourth", "fifth", "sixth"} {
		approvers = append(approvers, s.stranger(name, store.RoleApprover))
	}
	answers := make([]*answer, 4*len(approvers))
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			verdict := verdictOf("approve", s.hash, "")
			if i%2 == 1 {
				verdict = verdictOf("deny", s.hash, "no")
			}
			answers[i] = approvers[i%len(approvers)].post(s.path(), verdict)
		})
	}
	wait.Wait()
	var won []int
	for i, a := range answers {
		if a.status == http.StatusOK {
			won = append(won, i)
			continue
		}
		if p := s.root.problemOf(http.StatusConflict, a); p.Who == "" || p.When == "" {
			t.Errorf("got %+v, want who decided and when", p)
		}
	}
	if len(won) != 1 {
		t.Fatalf("got %d winners, want one", len(won))
	}
	want := "SUCCESS"
	if won[0]%2 == 1 {
		want = "PERMISSION_DENIED"
	}
	if r := s.owner.rest(s.run); r.code() != want || s.fileIsThere() != (want != "SUCCESS") {
		t.Errorf("got %s and file there %v, want %s", r.code(), s.fileIsThere(), want)
	}
}

// TestP41_WhoIsLateSeesWhatWasDecided: the form of the second approver comes
// back as a page that says so, and offers nothing more.
func TestP41_WhoIsLateSeesWhatWasDecided(t *testing.T) {
	s := newScene(t)
	s.approver.want(http.StatusOK, s.approver.post(s.path(), verdictOf("deny", s.hash, "not today")), nil)
	got := s.root.form("/approvals/"+s.approval+"/decision", url.Values{"decision": {"approve"}, "hash": {s.hash}}.Encode())
	text := got.text()
	if got.status != http.StatusConflict || !strings.Contains(text, "Denied by approver") || !strings.Contains(text, "Your answer was not used") {
		t.Errorf("got %d, want 409 with who decided and that the answer was not used", got.status)
	}
	if strings.Contains(text, `value="approve"`) {
		t.Error("the page still offers to approve")
	}
	open := s.root.form("/approvals/"+s.approval+"/decision", url.Values{"decision": {"deny"}, "hash": {s.hash}}.Encode())
	if open.status != http.StatusConflict {
		t.Errorf("got %d, want 409", open.status)
	}
}

// TestP23_ADenialByFormNeedsAReason, and the packet stays open.
func TestP23_ADenialByFormNeedsAReason(t *testing.T) {
	s := newScene(t)
	got := s.approver.form("/approvals/"+s.approval+"/decision", url.Values{"decision": {"deny"}, "hash": {s.hash}}.Encode())
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text(), "needs a reason") || !strings.Contains(got.text(), `value="approve"`) {
		t.Errorf("got %d, want 422 with the open packet and the reason why", got.status)
	}
}

// TestP17_TheDefaultsShowNothingToStrangers: where a rule names no role, people
// who are no approvers still neither see nor count a request.
func TestP17_TheDefaultsShowNothingToStrangers(t *testing.T) {
	t.Parallel()
	w := worldOf(t, withPolicy(t, testConfig(t), ""))
	owner := w.stranger("owner", store.RoleOperator)
	r := owner.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	other, auditor := w.stranger("other", store.RoleViewer), w.stranger("auditor", store.RoleAuditor, store.RoleAdmin)
	for _, path := range []string{"/", "/runs", "/approvals", "/approvals?tab=all"} {
		if text := other.get(path).text(); strings.Contains(text, "notes.txt") || strings.Contains(text, r.Waiting[0]) {
			t.Errorf("%s shows a stranger the request", path)
		}
	}
	hash := auditor.hashOf(r.Waiting[0])
	auditor.problemOf(http.StatusForbidden, auditor.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", hash, "")))
	if got := auditor.form("/approvals/"+r.Waiting[0]+"/decision", url.Values{"decision": {"approve"}, "hash": {hash}}.Encode()); got.status != http.StatusForbidden {
		t.Errorf("an auditor by form: got %d, want 403", got.status)
	}
}
