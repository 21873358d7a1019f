package engine

import (
	"slices"

	"sluice/engine/plan"
	"sluice/policy"
)

// NodeView is one node as projections and pages see it. Slices are shared with
// the State: readers do not change them.
type NodeView struct {
	ID          string
	Kind        string // "tool", "planner" or "reflection"
	State       NodeState
	Attempt     int // last started, 0 before
	StartedAt   int64
	EndedAt     int64
	RetryAt     int64
	Class       Class
	Cause       string
	Output      []byte // verified, inline
	Blob        *Blob
	Observation string
	Approval    string             // open request, "" when none
	Expires     int64              // of the open request, µs UTC
	Unknown     bool               // waits for a person's word on its outcome
	Clearing    []policy.ClearFor  // authorities that have still to answer
	Step        *plan.CompiledStep // nil for control nodes

	// Of control nodes.
	By       string // who was asked last: "builtin" or "model:NAME"
	Usage    Usage  // of all attempts that ended
	Fallback string // why the built-in planner acts for the model: "unavailable", "answers"

	Sketch bool // of an answer that is still coming in; not among Nodes
}

// ApprovalView is one approval request as it stands.
type ApprovalView struct {
	ApprovalAsk
	Node        string
	Attempt     int
	RequestedAt int64
	Approvers   []string
	Result      ApprovalResult // "" while open
	By          string
	At          int64
}

// ID of the run.
func (s *State) ID() string { return s.run.id }

// Now is the time of the last input folded, µs UTC.
func (s *State) Now() int64 { return s.run.now }

// Plan is the compiled plan of the current version, nil before the first.
func (s *State) Plan() *plan.Compiled { return s.plan }

// PlanBy says who wrote the plan: a principal, "builtin" or "model:…".
func (s *State) PlanBy() string { return s.run.planBy }

// Node gives one node by id.
func (s *State) Node(id string) (NodeView, bool) {
	n, i := s.at(id)
	if n == nil {
		return NodeView{ID: id, Kind: "tool", State: NodePending, Sketch: true}, s.isSketched(id)
	}
	return s.view(id, n, i), true
}

// Nodes gives every node: the planners that acted, the steps in plan order, the
// reflections that started.
func (s *State) Nodes() []NodeView {
	list := make([]NodeView, 0, len(s.nodes)+len(s.control))
	list = s.controls(list, KindPlanner)
	for i := range s.nodes {
		list = append(list, s.view(s.plan.Steps[i].ID, &s.nodes[i], i))
	}
	return s.controls(list, KindReflection)
}

func (s *State) controls(list []NodeView, kind string) []NodeView {
	for k, c := range s.control {
		if ControlKind(c.id) == kind {
			list = append(list, s.view(c.id, &c.node, -1-k))
		}
	}
	return list
}

func (s *State) view(id string, n *node, i int) NodeView {
	v := NodeView{ID: id, Kind: "tool", State: n.state.name(), Attempt: n.attempt,
		StartedAt: n.startedAt, EndedAt: n.endedAt, RetryAt: n.retryAt, Class: n.class, Cause: n.cause,
		Output: n.output, Blob: n.blob, Observation: n.observation, Unknown: n.unknown, Clearing: n.clear.open}
	if i < 0 {
		c := s.control[-1-i]
		v.Kind, v.By, v.Usage, v.Fallback = ControlKind(id), c.by, c.usage, c.fell
		return v
	}
	v.Step = &s.plan.Steps[i]
	v.Approval, v.Expires = s.openApproval(i)
	return v
}

func (s *State) openApproval(i int) (id string, expires int64) {
	if s.nodes[i].state != waiting {
		return "", 0
	}
	for k := range s.approval {
		if a := &s.approval[k]; a.node == i && a.result == "" {
			return a.ask.ID, a.ask.ExpiresAt
		}
	}
	return "", 0
}

// Approvals gives every request of the run in the order asked.
func (s *State) Approvals() []ApprovalView {
	list := make([]ApprovalView, len(s.approval))
	for k := range s.approval {
		a := &s.approval[k]
		list[k] = ApprovalView{ApprovalAsk: a.ask, Node: s.plan.Steps[a.node].ID,
			Attempt: a.attempt, RequestedAt: a.asked, Approvers: slices.Clone(a.approvers),
			Result: a.result, By: a.by, At: a.at}
	}
	return list
}

// Summarise projects a State into the shape of P39.
func Summarise(s *State) Summary {
	r := &s.run
	sum := Summary{ID: r.id, Goal: r.goal, Status: s.Status(), Code: r.code,
		Causes: append([]string{}, r.causes...), Mode: r.mode,
		ModeOptions: ModeOptions{Checkpoints: r.checkpoints}, Intent: r.intent,
		Requester: r.requester, Policy: r.pinned, PlanVersion: r.version, Seq: r.seq,
		Counts: map[string]int{}, Budget: map[string]Spend{}, Verdict: r.verdict,
		Unplanned: append([]Unplanned{}, r.unplanned...), Waiting: []string{},
		Fallbacks: slices.Clone(r.fallbacks), Unpriced: r.models.Unpriced(),
		CreatedAt: r.createdAt, EndedAt: r.endedAt}
	for _, c := range s.control {
		sum.Estimated = sum.Estimated || c.usage.Estimated
	}
	for st := nodeState(0); st < stateCount; st++ {
		if c := s.count[st]; c > 0 {
			sum.Counts[string(st.name())] = c
		}
	}
	for d := 0; d < dimCount; d++ {
		sum.Budget[dimensionName(d)] = s.spend(d)
	}
	for k := range s.approval {
		if s.approval[k].result == "" {
			sum.Waiting = append(sum.Waiting, s.approval[k].ask.ID)
		}
	}
	sum.Questions = s.Questions()
	sum.Review, sum.Template = s.reviewing(), r.template
	if sum.Verdict == nil && r.answer != "" {
		sum.Verdict = &Verdict{Text: r.answer, Claims: []Claim{}, By: r.planBy}
	}
	return sum
}

// digests are what the final reflection may see of the steps (R42).
func (s *State) digests() []Digest {
	list := make([]Digest, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		d := Digest{Node: s.plan.Steps[i].ID, Tool: s.plan.Steps[i].Tool, State: n.state.name()}
		if n.state == executed {
			d.Output, d.Blob, d.Observation = n.output, n.blob, n.observation
		} else {
			d.State, d.Class = modelState(n), modelClass(n)
		}
		list[i] = d
	}
	return list
}

// modelState hides how a step came to fail: a denial, a rejection and an
// expiry are a failure like any other (P24).
func modelState(n *node) NodeState {
	if n.denied {
		return NodeFailed
	}
	return n.state.name()
}

func modelClass(n *node) Class {
	if n.denied {
		return ClassUnavailable
	}
	return n.class
}

// Requester of the run.
func (s *State) Requester() string { return s.run.requester }

// Goal of the run.
func (s *State) Goal() string { return s.run.goal }

// Intent of the run.
func (s *State) Intent() policy.Rank { return s.run.intent }

// Version is the current plan version, 0 before the first.
func (s *State) Version() int { return s.run.version }

// Questions lists outcomes that wait for a person's word (T18).
func (s *State) Questions() []Question {
	if s.unknown == 0 {
		return nil
	}
	var list []Question
	for i := range s.nodes {
		if n := &s.nodes[i]; n.unknown {
			list = append(list, Question{Node: s.plan.Steps[i].ID, Attempt: n.attempt, Tool: s.plan.Steps[i].Tool,
				At: n.startedAt, Expires: n.askedAt + questionTTL.Microseconds()})
		}
	}
	return list
}

// Shape is what lists sort and mark runs by; comparable, so that a shell can
// tell whether a summary is worth saving.
type Shape struct {
	Version   int
	Status    Status
	Approvals int // open
	Questions int
}

// Shape of the run as folded.
func (s *State) Shape() Shape {
	return Shape{Version: s.run.version, Status: s.Status(), Approvals: s.run.openApprovals, Questions: s.unknown}
}

// Sound says that the fold began with run.created and met no broken invariant:
// only then can projections be held against it.
func (s *State) Sound() bool { return s.run.created && s.fault == "" }
