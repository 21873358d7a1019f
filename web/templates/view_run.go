package templates

import "encoding/json"

// Run is the run page. View says which of the four ways it is shown in.
type Run struct {
	Shell
	Head     RunHead
	View     string // "graph", "list", "log" or "verdict"
	NodeID   string // selected node, "" for none
	Node     *Node  // inspector of the selected node; nil shows the overview
	Steps    []Step // list view, and the fallback of the graph without script
	Log      *Log   // log view only
	Verdict  *Verdict
	Boot     json.RawMessage // graph view only: {"run","seq","view":{"run","nodes"}}
	Overview Overview
	Review   *Review // while the run stands at its plan
}

// RunHead is the part above the tabs.
type RunHead struct {
	ID        string
	Goal      string
	Status    string
	Code      string
	CreatedAt int64
	EndedAt   int64
	Waiting   []Waiting      // open requests, in the order asked
	Counts    map[string]int // nodes by state (P39)
	Budget    []Spend
	Fallbacks []string // roles where the built-in planner acts for a model
	Mode      string   // "reflect"
	Version   int      // of the plan
	CanAct    bool     // the viewer may pause, resume and cancel
	Review    bool     // stands at its plan
	CanSave   bool     // as a template
	Template  string   // "name@2" while the plan is an instance of it
}

// Waiting is one open request of a run.
type Waiting struct {
	ID   string // "a_…"
	Node string
	Mine bool // the viewer may answer it
}

// Spend is one budget dimension.
type Spend struct {
	Name  string // "Calls", "Effects", "Time"
	Used  int64  // spent and reserved
	Limit int64
	Unit  string // "" or "s"
	Text  string // instead of used and limit, "" for those
}

// Overview is the panel beside a view when no step is selected.
type Overview struct {
	Goal      string
	Requester Person
	Intent    string
	Mode      string
	Planner   string   // "builtin" or "model:…"
	Fallbacks []string // roles where the built-in planner acts for a model
	Usage     []Pair   // calls, tokens and cost of models, with their limits
	Policy    string   // "sha256:…"
	Pinned    PolicyLink
	Version   int
	CreatedAt int64
	EndedAt   int64
	Now       string // what the run waits for, "" while it works or is over
}

// Step is one row of the list view, in the order of the plan.
type Step struct {
	ID       string
	Kind     string // "tool", "planner" or "reflection"
	Tool     string
	State    string // P2
	Sketch   bool   // of an answer that is still coming in
	Attempt  int
	Note     string
	After    []string // ids it waits for
	Started  int64
	Ended    int64
	Approval string // "a_…" while it waits for one
	Mine     bool
}

// Node is the inspector of one node.
type Node struct {
	Run       string
	ID        string
	Kind      string
	Tool      string
	State     string
	Position  string // "step 4 of 12"
	Call      *CallOut
	Facts     []Pair // of the plan: effect, impact, join, retries, timeout, contract
	By        string // of a control node: "builtin" or "model:NAME"
	Fallback  string // why the built-in planner acts for the model, "" when it does not
	Usage     []Pair // tokens and cost of its calls
	Why       string // the plan's reason, "" for none
	Params    []Param
	Pending   bool // parameters still contain unresolved references
	Gate      []Gate
	Answers   []Answer // to its requests, in order
	Result    *Result
	Attempts  []Attempt
	Raw       string       // the node's record as indented JSON
	LastSeq   int64        // of the fact that changed it last, 0 for none
	Predicate string       // guard in words, "" for none
	Held      *Left        // why it was not done or does not run yet, nil for nothing to say
	Rules     []PolicyLink // by which the gate decided
	Policy    PolicyLink   // that the run was started under
}

// CallOut is the request that a waiting node shows first.
type CallOut struct {
	ID        string // "a_…"
	Title     string // a question or verb sentence
	Text      string // reversible or not, what expiry does
	ExpiresAt int64
	Question  bool
	Mine      bool
}

// Pair is one labelled value.
type Pair struct{ Name, Value string }

// Param is one parameter with where it came from (P20).
type Param struct {
	Name   string   // path of the leaf, "to.0"
	Value  string   // as text; strings without quotes
	Source string   // "plan literal", or "contacts.rows.0.email" for a reference
	Ref    bool     // true: the value came from a step
	Step   string   // the step of a reference
	Labels []string // "user", "constant", "trusted", "untrusted"
	Flag   string   // a warning beside the value, "" for none
}

// Gate is one stage of a decision in words.
type Gate struct {
	Stage  string // "Scope", "Impact", "Approval", …
	Answer string // "allow", "ask", "deny" or "none"
	Text   string
}

// Answer is what a person, or the end of the time to answer, said to a request.
type Answer struct {
	Word    string // "Approved", "Denied", …
	Who     string // "" for nobody
	Reason  string
	At, Seq int64
	URL     string // of the request
}

// Result is a node's observation.
type Result struct {
	Observation string // "o_…", "" for a failure without one
	Source      string // "tool:file.list", "human"
	JSON        string // indented; "" when there is none
	ErrorClass  string // "" when it succeeded
	Error       string // shown to people only
	Verified    bool   // contract satisfied
	Checks      []string
	Seq         int64 // of the fact that holds it
	Erased      bool
}

// Attempt is one attempt with its times.
type Attempt struct {
	N       int
	State   string // P2 word of how it stands
	Text    string // one sentence
	Started int64
	Ended   int64
	Seq     int64
}

// Log is a run's facts, or a page of them, in order.
type Log struct {
	Rows   []FactRow
	Proof  Proof
	Export string // URL of the NDJSON export, "" when not permitted
	Next   string // URL of the following page, "" at the end
	Prev   string
	At     int64 // the fact that a link points to, 0 for none
	// Program and Data are the binary and the data directory as a shell takes
	// them, "" for those who may not know.
	Program, Data string

	Self string // the query of this page, to fetch it again

	Step, Kind, Query string // the filter
	Filtered          bool
	Kinds             []Choice
	Steps             []string
}

// Choice is one option of a select.
type Choice struct{ Value, Text string }

// FactRow is one stored row in words (P27).
type FactRow struct {
	Seq     int64
	At      int64
	Kind    string
	Node    string
	Attempt int
	Version int
	Cause   int64
	Actor   string
	Summary string // one sentence
	Data    string // indented JSON
	Hash    string // hex
	Erased  bool
	Policy  PolicyLink // that the fact names, if any
}

// Proof is how the log's hash chain stands.
type Proof struct {
	Status   string // "ok", "broken", "erased", "truncated", "missing" or "" when not checked
	Facts    int64
	Head     string // hex
	SealedAt int64  // of the newest seal that covers the run, 0 for none
	Reason   string // of anything but ok
	Seq      int64  // where it breaks
}

// Verdict is why a run ended and what it found.
type Verdict struct {
	Code      string
	Summary   string // how it went, in the words of its facts
	Words     string // of who stopped the run, "" for none
	Who       string // who stopped it, "" for nobody
	At        int64  // when, 0 for never
	Text      string // the answer, "" where the summary says it all
	Causes    []string
	By        string   // "builtin" or "model:…"
	Findings  []string // why a proposed plan was not taken
	Fixes     []string // what a person can do next
	Again     string   // the intent that would have been enough, "" for none
	Claims    []Claim
	Done      []Left // what was done where no claim speaks of it
	Left      []Left
	Unplanned []Unplanned
	Foot      []string // "5 steps", "1 plan version", "0 side effects"
	Linked    string   // "5 of 5 claims linked to verified outputs", "" without claims
}

// Claim is one statement with the observations it stands on.
type Claim struct {
	Title string // "" when it has none
	Text  string
	Cites []Cite
}

// Cite is one numbered observation.
type Cite struct {
	N           int
	Observation string // "o_…"
	Node        string // whose inspector shows it
}

// Left is a step that was not done, or not yet, and why.
type Left struct {
	Node   string
	Tool   string
	Why    string // one sentence
	Detail string // the words of the tool, the gate or the person, "" for none
	Fix    string // what a person can do about it, "" for nothing
	Who    string // who decided, "" where nobody did
	At     int64  // 0 where no fact says it
	Seq    int64  // of that fact, 0 for none
	Root   string // the earlier step that is the reason, "" for none
	Failed bool   // it was tried or refused; else it never came to it

	Rules []PolicyLink // by which the gate decided
}

// PolicyLink leads to a version of the policy, or to a line of it.
type PolicyLink struct{ Text, URL string }

// Unplanned is a part of the goal that no step covers.
type Unplanned struct{ Clause, Why string }
