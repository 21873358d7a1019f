package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
	"sluice/policy/document"
)

// Limits on publishing.
const (
	policyReasonMax   = 4 << 10 // bytes
	stopTriesMax      = 5       // a switch thrown while others publish
	policyWarningsMax = 20
)

// Policies keeps the versions of the policy and tries drafts on recorded calls.
type Policies interface {
	Active(ctx context.Context) (PolicyVersion, error)
	Version(ctx context.Context, n int) (PolicyVersion, error)
	// VersionOf gives the version that had a hash at a time (µs UTC).
	VersionOf(ctx context.Context, hash string, at int64) (PolicyVersion, error)
	// Versions lists versions before one (0: from the newest), newest first,
	// without their texts.
	Versions(ctx context.Context, before, limit int) ([]PolicyVersion, error)
	// Publish makes a document the next version and tells every live run.
	// *PolicyConflict: another version came in between.
	Publish(ctx context.Context, p PolicyPublication) (PolicyVersion, error)
	// Try decides the recorded calls by a draft and by the active policy (P20).
	Try(ctx context.Context, draft *policy.Policy, page CallPage) (Trial, error)
	// CallsOf lists recorded decisions about one tool, newest first.
	CallsOf(ctx context.Context, tool string, page CallPage) (list []RecordedCall, next string, err error)
	CountCalls(ctx context.Context) (map[string]int, error)
}

// PolicyVersion is one published version; the newest is in force.
type PolicyVersion struct {
	Version   int
	Hash      string
	At        int64  // µs UTC
	Actor     string // principal
	Reason    string
	Base      int
	Text      string // YAML
	Canonical []byte // JSON
}

// PolicyPublication asks for a document to become the next version.
type PolicyPublication struct {
	Policy *policy.Policy
	Text   string
	Base   int
	Reason string
	Actor  string
	At     int64
}

// PolicyConflict says which version came in between.
type PolicyConflict struct{ Newest PolicyVersion }

// Error implements error.
func (e *PolicyConflict) Error() string {
	return fmt.Sprintf("version %d of the policy was published meanwhile", e.Newest.Version)
}

// CallPage is a page of a list of calls.
type CallPage struct {
	Cursor string
	Limit  int
}

// RecordedCall is one gate decision on record.
type RecordedCall struct {
	Run, Node string
	Attempt   int
	Seq, At   int64
	Tool      string
	Decision  policy.Outcome
	Impact    policy.Rank
}

// Trial says what a draft would have changed.
type Trial struct {
	Calls, Unchanged, Erased, Left int
	Reasked                        int // of the unchanged: other approvals or authorities are asked
	Since                          int64
	Changes                        []TrialChange
	Rules                          map[string]int // by rule of the draft: calls it took part in
	List                           []TrialCall    // looser first, newest first in each direction
	Next                           string
}

// TrialChange counts calls whose answer changes in one way.
type TrialChange struct {
	From, To policy.Answer
	Count    int
}

// TrialCall is one call whose answer would change.
type TrialCall struct {
	RecordedCall
	From, To policy.Answer
	Rules    []string
	Reasons  []string
	Params   []policy.Param
}

// policyOwner wants somebody who may change the policy, in person.
func policyOwner(c echo.Context) (*Viewer, error) {
	v, err := people(c)
	if err != nil {
		return nil, problem("denied", "tokens can not change the policy", "sign in and change it in the browser")
	}
	if !v.ownsPolicy() {
		return nil, problem("denied", "only policy owners and admins change the policy", "ask a policy owner")
	}
	return v, nil
}

func (v *Viewer) ownsPolicy() bool { return v.has("policy_owner") || v.has("admin") }

// policyReader wants somebody who may try drafts on what everybody has called.
func policyReader(c echo.Context) error {
	if v := viewer(c); v.ownsPolicy() || v.has("auditor") {
		return nil
	}
	return problem("denied", "only policy owners, auditors and admins try a policy on recorded calls", "ask a policy owner")
}

// readPolicy compiles a YAML text; the problems say why it does not.
func (s *Server) readPolicy(text string) (*policy.Policy, []document.Problem) {
	return compilePolicy(text, s.cfg.Rules.Catalog())
}

func compilePolicy(text string, catalog *plan.Catalog) (*policy.Policy, []document.Problem) {
	tools := make([]policy.Tool, 0, len(catalog.Names()))
	for _, name := range catalog.Names() {
		t, _ := catalog.Lookup(name)
		tools = append(tools, t.Tool)
	}
	doc, problems := document.ParseFor([]byte(text), tools)
	if len(problems) > 0 {
		return nil, problems
	}
	compiled, err := policy.Compile(doc)
	if err != nil {
		return nil, []document.Problem{{Line: 1, Col: 1, Message: err.Error()}}
	}
	return compiled, nil
}

// PolicyReport is what checking a document gives, over the API and on the
// command line.
type PolicyReport struct {
	OK       bool               `json:"ok"`
	Hash     *string            `json:"hash"`
	Issues   []document.Problem `json:"issues"`
	Warnings []string           `json:"warnings"`
}

// CheckPolicy checks a YAML text against the tools of a catalogue. The policy
// is nil when the report has issues.
func CheckPolicy(text string, catalog *plan.Catalog) (*policy.Policy, PolicyReport) {
	compiled, problems := compilePolicy(text, catalog)
	if compiled == nil {
		return nil, PolicyReport{Issues: problems, Warnings: []string{}}
	}
	hash := compiled.Hash()
	return compiled, PolicyReport{OK: true, Hash: &hash, Issues: []document.Problem{}, Warnings: policyWarnings(compiled, catalog)}
}

// policyWarnings are what a policy says but its author may not mean.
func policyWarnings(p *policy.Policy, catalog *plan.Catalog) []string {
	doc := p.Document()
	warnings := namelessGuards(&doc, catalog)
	for _, name := range catalog.Names() {
		for scope := range doc.Scopes {
			if p.InScope([]string{scope}, name) {
				return warnings
			}
		}
	}
	return append(warnings, "This policy lets no tool run: every call of every run would be denied.")
}

// namelessGuards are patterns that hold nothing back, because no tool has such a
// name: a slip of the pen there leaves open what its author thinks is closed.
func namelessGuards(doc *policy.Document, catalog *plan.Catalog) []string {
	warnings := []string{}
	look := func(what string, patterns []string) {
		for _, pattern := range patterns {
			matches := func(name string) bool { return policy.MatchName(pattern, name) }
			if len(warnings) < policyWarningsMax && !slices.ContainsFunc(catalog.Names(), matches) {
				warnings = append(warnings, what+" names "+plain(pattern)+", which no tool is called: it holds nothing back.")
			}
		}
	}
	look("A kill switch", doc.KillSwitches)
	for _, r := range doc.Approvals.Rules {
		look("Rule "+plain(r.ID), r.When.Tools)
	}
	for _, r := range doc.Clearance {
		look("Clearance rule "+plain(r.ID), r.When.Tools)
	}
	look("An impact", sortedKeys(doc.Tools))
	return warnings
}

// policyBody is what publishing needs.
type policyBody struct {
	YAML   string `json:"yaml"`
	Reason string `json:"reason"`
	Base   int    `json:"base"`
}

// publishPolicy serves the API and the page.
func (s *Server) publishPolicy(c echo.Context, body *policyBody) (PolicyVersion, error) {
	v, err := policyOwner(c)
	if err != nil {
		return PolicyVersion{}, err
	}
	reason, bad := policyReason(body.Reason)
	if bad != nil {
		return PolicyVersion{}, bad
	}
	if body.Base < 1 {
		p := problem("invalid", "base is missing: the version that the text was made from", "send the version of GET /api/v1/policies")
		p.Pointer = "/base"
		return PolicyVersion{}, p
	}
	compiled, problems := s.readPolicy(body.YAML)
	if len(problems) > 0 {
		return PolicyVersion{}, refusedPolicy(problems)
	}
	made, err := s.cfg.Policies.Publish(c.Request().Context(), PolicyPublication{Policy: compiled, Text: body.YAML,
		Base: body.Base, Reason: reason, Actor: v.Principal(), At: s.now()})
	return made, s.policyConflict(c, err)
}

func policyReason(text string) (string, *Problem) {
	reason := strings.TrimSpace(text)
	if reason == "" || len(reason) > policyReasonMax {
		p := problem("invalid", "a reason of 1 to 4,096 bytes is needed", "say why, for whoever reads the history")
		p.Pointer = "/reason"
		return "", p
	}
	return reason, nil
}

func refusedPolicy(problems []document.Problem) *Problem {
	first := problems[0]
	p := problem("invalid", "line "+strconv.Itoa(first.Line)+", column "+strconv.Itoa(first.Col)+": "+first.Message, "mend the issues and send it again; nothing was published")
	p.Pointer, p.Issues = first.Pointer, problems
	return p
}

// policyConflict names who was faster.
func (s *Server) policyConflict(c echo.Context, err error) error {
	late, isLate := err.(*PolicyConflict)
	if !isLate {
		return err
	}
	p := problem("conflict", "version "+strconv.Itoa(late.Newest.Version)+" was published while you edited",
		"compare your text with it, then publish on top of it; nothing of yours is lost")
	p.Who, p.When = late.Newest.Actor, engine.WireTime(late.Newest.At)
	return p
}

// revertPolicy publishes an older document as the next version.
func (s *Server) revertPolicy(c echo.Context, n int, reason string) (PolicyVersion, error) {
	if _, err := policyOwner(c); err != nil {
		return PolicyVersion{}, err
	}
	ctx := c.Request().Context()
	old, err := s.cfg.Policies.Version(ctx, n)
	if err != nil {
		return PolicyVersion{}, err
	}
	active, err := s.cfg.Policies.Active(ctx)
	if err != nil {
		return PolicyVersion{}, err
	}
	if active.Hash == old.Hash {
		return PolicyVersion{}, problem("conflict", "version "+strconv.Itoa(n)+" says the same as version "+strconv.Itoa(active.Version)+", which is in force", "there is nothing to revert")
	}
	return s.publishPolicy(c, &policyBody{YAML: old.Text, Reason: reason, Base: active.Version})
}

// switchTool throws or takes back one tool's kill switch: a version of its own,
// so that it is on record and every live run hears of it.
func (s *Server) switchTool(c echo.Context, stop bool, reason string) (PolicyVersion, error) {
	if _, err := policyOwner(c); err != nil {
		return PolicyVersion{}, err
	}
	name := c.Param("tool")
	if _, known := s.cfg.Rules.Catalog().Lookup(name); !known {
		return PolicyVersion{}, notFound("tool")
	}
	var last error
	for range stopTriesMax {
		active, err := s.cfg.Policies.Active(c.Request().Context())
		if err != nil {
			return PolicyVersion{}, err
		}
		text, err := switched(active.Text, name, stop)
		if err != nil {
			return PolicyVersion{}, err
		}
		made, err := s.publishPolicy(c, &policyBody{YAML: text, Reason: reason, Base: active.Version})
		if err == nil {
			return made, nil
		}
		p, isProblem := err.(*Problem)
		if !isProblem || p.Code != "conflict" {
			return PolicyVersion{}, err
		}
		last = err // somebody published in between: try on what holds now
	}
	return PolicyVersion{}, last
}

// switched is a document's text with a tool's kill switch on or off.
func switched(text, tool string, stop bool) (string, error) {
	tables, bad := document.TablesOf([]byte(text))
	if bad != nil {
		return "", problem("internal", "the policy in force can not be read", "edit the policy")
	}
	row, by := killedBy(tables.Kills, tool)
	switch {
	case stop && by != "":
		return "", problem("conflict", tool+" is stopped already, by the kill switch "+by, "there is nothing to do")
	case !stop && by == "":
		return "", problem("conflict", tool+" is not stopped", "there is nothing to revive")
	case !stop && row == "":
		return "", problem("conflict", tool+" is stopped by the pattern "+by+", which stops other tools too", "edit the kill switches of the policy")
	}
	var out []byte
	var err error
	if stop {
		out, err = document.Set([]byte(text), "/kill_switches/-", tool)
	} else {
		out, err = document.Remove([]byte(text), row)
	}
	if err != nil {
		return "", problem("internal", "the kill switches can not be changed: "+err.Error(), "edit the policy")
	}
	return string(out), nil
}

// killedBy gives the switch that stops a tool, and its place when it names
// exactly this tool and no other switch stops it.
func killedBy(kills []document.Row, tool string) (pointer, by string) {
	for _, k := range kills {
		switch {
		case k.Key == tool && by == "":
			pointer, by = k.Pointer, k.Key
		case policy.MatchName(k.Key, tool):
			pointer, by = "", k.Key
		}
	}
	return pointer, by
}

func versionParam(c echo.Context) (int, error) {
	n, err := strconv.Atoi(c.Param("version"))
	if err != nil || n < 1 {
		return 0, notFound("version of the policy")
	}
	return n, nil
}

const yamlType = "application/yaml"

func wantsYAML(c echo.Context) bool {
	return c.QueryParam("format") == "yaml" || strings.Contains(c.Request().Header.Get(echo.HeaderAccept), yamlType)
}

func sendYAML(c echo.Context, text string) error {
	return c.Blob(http.StatusOK, yamlType, []byte(text))
}
