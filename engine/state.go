package engine

import (
	"sluice/engine/plan"
	"sluice/policy"
)

// Ids of the control nodes (R6). A dot never occurs in a step id.
const (
	PlannerNode = "kernel.plan"
	ReflectNode = "kernel.reflect"
)

// Env is what a State is given besides its facts: content pinned by hash,
// loaded before the first Step (P29). Folding alone needs none of it.
type Env struct {
	Catalog *plan.Catalog
	Pinned  *policy.Policy // the policy that authorised the run
	Current *policy.Policy // the policy in force now (P19)
	Planner string         // "builtin/1"
	// Latency has recorded latencies of attempts by tool, in ms: what a denial
	// is timed by before a model is told (P24).
	Latency map[string][]int64
	Models  Models // of the run to be created; later the pinned ones count
}

// State is a run, folded. One goroutine owns it; it is changed in place by
// Apply and Step only.
type State struct {
	env  Env
	run  runState
	plan *plan.Compiled

	nodes    []node     // by position in the plan
	grown    []int      // how many steps there were each time the plan grew
	control  []*control // in the order in which they started
	sketch   []sketched // of the planner's attempt that runs
	approval []approval
	index    map[string]int // step id → position; looked up, never ranged
	count    [stateCount]int
	running  int     // attempts in flight, control nodes included
	unknown  int     // nodes that wait for a person's word on their outcome
	turns    []turn  // of the any_of joins with act candidates
	member   [][]int // position → turns it has a part in; nil without turns

	ready  readyQueue // derived; stale entries are skipped when popped
	due    []int      // pending nodes whose predecessors changed
	spares []int      // candidates that somebody may no longer need
	retry  []int      // nodes in failed_retryable, for the timer

	step    stepper
	scratch enc
	fault   string // first broken invariant; Step ends the run with it (P6)
}

// runState is what the facts say of the run as a whole.
type runState struct {
	id, goal, requester string
	intent              policy.Rank
	scopes              []string
	mode, checkpoints   string
	profile             Profile
	pinned              string
	current             string // hash of the policy last told of (P19)
	visibleAt           int64  // before it no model is told of denials (P24)
	seq, now, createdAt int64
	endedAt             int64
	created, paused     bool
	halt                Code // decided, attempts still draining
	code                Code
	causes              []string
	version             int
	planBy, answer      string
	planFailed          string // why no plan came of the planner
	unplanned           []Unplanned
	template            string // "name@2" while the plan is an instance of it
	review              string // "" or "plan"
	started             bool   // the plan under review was let go
	startedBy           string
	startedAt           int64
	versionAt           int64 // when the current version came
	verdict             *Verdict
	spent, reserved     reserve
	models              Models
	note                string // what the reflection found missing
	replan              bool   // granted, not started
	replans             int
	fallbacks           []string
	warned              [dimCount]bool
	activeUS            int64 // wall clock used while not waiting for people
	openApprovals       int
}

// node is a step's life in this run.
type node struct {
	state       nodeState
	attempt     int  // last started
	asked       int  // approval requests so far
	left        int  // predecessors not terminal
	good        int  // executed predecessors
	bad         int  // failed or cancelled predecessors
	skips       int  // skipped predecessors
	need        int  // any_of: predecessors with data not executed
	needBad     int  // … failed or cancelled
	needSkips   int  // … skipped
	hold        int  // turns an act candidate waits for
	candidate   bool // of some any_of join
	passed      bool
	unknown     bool // waiting for a person's word on an outcome (T18)
	class       Class
	cause       string // root cause of not being executed, handed downstream
	startedAt   int64
	endedAt     int64
	retryAt     int64
	askedAt     int64  // when the outcome came in question
	denied      bool   // by the gate, a person or an expiry (P24)
	inherited   bool   // ended because of what came before it
	output      []byte // verified, inline
	blob        *Blob
	observation string
	reserve     reserve
	held        []policy.Approval
	clear       clearing
}

// approval is one request and how it stands.
type approval struct {
	ask       ApprovalAsk
	node      int
	attempt   int   // the one it would start
	asked     int64 // µs UTC
	approvers []string
	result    ApprovalResult // "" while open
	by        string
	at        int64 // of the last verdict
}

// New gives the empty State of a run to be created or folded.
func New(env Env) *State {
	return &State{env: env}
}

// Seq is the sequence number of the last fact folded, 0 before the first.
func (s *State) Seq() int64 { return s.run.seq }

// PinnedPolicy is the content hash the run was authorised under.
func (s *State) PinnedPolicy() string { return s.run.pinned }

// CurrentPolicy is the content hash of the policy that the run was told of last.
func (s *State) CurrentPolicy() string { return s.run.current }

// SetEnv gives a folded State the content it needs to Step.
func (s *State) SetEnv(env Env) { s.env = env }

// Ended says whether the run has its code.
func (s *State) Ended() bool { return s.run.code != "" }

// Status derives where the run stands (P3).
func (s *State) Status() Status {
	switch {
	case s.run.code != "":
		return Ended
	case s.run.paused:
		return Paused
	case s.reviewing():
		return Waiting
	case s.run.version == 0 && s.run.halt == "":
		return Planning
	case s.running+s.count[ready]+s.count[retryable] > 0:
		return Active
	case s.count[waiting]+s.count[blocked] > 0:
		return Waiting
	}
	return Active
}

// at gives a node by id: a control node, with an index below 0, or a step of the
// plan. A control node is a step of no plan, so the two cannot be confused.
func (s *State) at(id string) (*node, int) {
	if i, ok := s.index[id]; ok {
		return &s.nodes[i], i
	}
	if c, k := s.controlByID(id); c != nil {
		return &c.node, k
	}
	return nil, -1
}

// load takes a compiled plan as the run's first version.
func (s *State) load(c *plan.Compiled) {
	s.plan, s.turns, s.member = c, nil, nil
	s.nodes = make([]node, len(c.Steps))
	s.index = make(map[string]int, len(c.Steps))
	s.count = [stateCount]int{pending: len(c.Steps)}
	for i := range c.Steps {
		s.index[c.Steps[i].ID] = i
		s.nodes[i].left = len(c.Steps[i].Deps)
	}
	s.seat(0)
	for _, i := range c.Entries {
		s.wake(i)
	}
}
