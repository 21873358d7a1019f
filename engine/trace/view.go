package trace

import "sluice/engine"

// View is a run as the graph page draws it.
type View struct {
	Run   Run    `json:"run"`
	Nodes []Node `json:"nodes"`
}

// Run is the header of a run.
type Run struct {
	ID       string                  `json:"id"`
	Goal     string                  `json:"goal"`
	Status   engine.Status           `json:"status"`
	Code     engine.Code             `json:"code"`
	Causes   []string                `json:"causes"`
	Intent   string                  `json:"intent"`
	Mode     string                  `json:"mode"`
	Counts   map[string]int          `json:"counts"`
	Version  int                     `json:"version"`
	Seq      int64                   `json:"seq"`
	Created  int64                   `json:"created"` // µs UTC
	Ended    int64                   `json:"ended"`   // 0 until ended
	Budget   map[string]engine.Spend `json:"budget"`
	Waiting  []string                `json:"waiting"`
	Question int                     `json:"questions"` // outcomes that wait for a person's word
	By       string                  `json:"by"`

	Fallbacks []string `json:"fallbacks,omitempty"` // roles where the built-in planner acts for a model
	Unpriced  bool     `json:"unpriced,omitempty"`
}

// Node is one card.
type Node struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	Tool     string           `json:"tool"`
	X        int              `json:"x"` // px, grid of mock/tokens
	Y        int              `json:"y"`
	State    engine.NodeState `json:"state"`
	Attempt  int              `json:"attempt"`
	Note     string           `json:"note"` // at most NoteMax characters
	Version  int              `json:"v"`
	Join     string           `json:"join"`
	Started  int64            `json:"started"`
	Ended    int64            `json:"ended"`
	Deps     []Dep            `json:"deps"`
	Approval string           `json:"approval,omitempty"`
	Expires  int64            `json:"expires,omitempty"` // of the approval, µs UTC
	Unknown  bool             `json:"unknown,omitempty"`
	Sketch   bool             `json:"sketch,omitempty"`   // of an answer that is still coming in: nothing runs from it
	By       string           `json:"by,omitempty"`       // of a control node: "builtin" or "model:NAME"
	Fallback string           `json:"fallback,omitempty"` // why the built-in planner acts for the model
	Usage    *engine.Usage    `json:"usage,omitempty"`    // of a control node's calls that ended
}

// Dep is one edge into a card.
type Dep struct {
	From  string `json:"from"`
	Data  bool   `json:"data"`
	Field string `json:"field,omitempty"`
}

// Event is one change a live page applies. K says which: reset, node_added,
// node_set (a sketched card is a step now, in its place), removed (a sketched card
// is gone), node, run or version.
type Event struct {
	K string `json:"k"`

	Node *Node `json:"node,omitempty"` // node_added, node_set

	ID       string           `json:"id,omitempty"` // node, removed
	State    engine.NodeState `json:"state,omitempty"`
	Attempt  int              `json:"attempt,omitempty"`
	Note     string           `json:"note,omitempty"`
	At       int64            `json:"at,omitempty"`
	Started  int64            `json:"started,omitempty"`
	Ended    int64            `json:"ended,omitempty"`
	Approval string           `json:"approval,omitempty"`
	Expires  int64            `json:"expires,omitempty"` // of the approval, µs UTC
	Unknown  bool             `json:"unknown,omitempty"`
	By       string           `json:"by,omitempty"`
	Fallback string           `json:"fallback,omitempty"`
	Usage    *engine.Usage    `json:"usage,omitempty"`

	Run *Run `json:"run,omitempty"` // run

	N     int      `json:"n,omitempty"` // version
	Added []string `json:"added,omitempty"`
}
