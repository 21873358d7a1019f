package engine

import (
	"time"

	"sluice/policy"
)

// Command is something the shell does once the facts that led to it are
// durable. Commands are derived, never stored. The set is closed.
type Command interface {
	// CommandID is deterministic: kind, node and attempt within the run.
	CommandID() string
}

// Perform opens a tool with the Grant and calls it. Answer: AttemptDone.
type Perform struct {
	ID      string
	Node    string
	Attempt int
	Call    policy.Call
	Grant   policy.Grant
	Params  []byte // canonical JSON object
	Timeout time.Duration
}

// Propose asks for a plan, or for more steps of one. Answer: Planned. It says
// nothing of mode, intent, gate or policy (R41).
type Propose struct {
	ID        string
	Node      string // the control node that asks
	Attempt   int
	By        string // who is asked: "model:NAME" or "builtin"
	Goal      string
	Tools     []string // for a model: the names it is shown, the same for the whole run (R48, P24)
	MaxOutput int64    // tokens, for a model
	Again     []Again  // answers that could not be used, oldest first

	// Set when the reflection asked for more steps.
	Records [][]byte // ModelRecord of every step so far
	Steps   []string // ids that exist: the answer's steps are new and may refer to these
	Note    string   // what the reflection found missing
}

// Conclude asks for the final reflection on what was verified. Answer: Concluded.
type Conclude struct {
	ID        string
	Node      string
	Attempt   int
	By        string // who is asked: "model:NAME" or "builtin"
	Goal      string
	Steps     []Digest // what claims may point to; the built-in report is made of it
	Unplanned []Unplanned
	MaxOutput int64
	Again     []Again
	Records   [][]byte // ModelRecord of every step: all that a model may see of them (P24)
}

// Digest is a finished step as the final reflection sees it (R42). It says
// nothing of gate decisions (P24).
type Digest struct {
	Node        string
	Tool        string
	State       NodeState
	Output      []byte // verified JSON, nil unless executed inline
	Blob        *Blob  // where the output is too large to be inline
	Observation string // "o_…", "" unless executed
	Class       Class
}

// Stop ends a running attempt: at once for reads, after Grace for effects (P7);
// or the questions to authorities whose ids begin with Clearing.
type Stop struct {
	ID      string
	Node    string
	Attempt int
	Grace   time.Duration

	Clearing string // "" for an attempt
}

// CommandID implements Command.
func (c Perform) CommandID() string { return c.ID }

// CommandID implements Command.
func (c Propose) CommandID() string { return c.ID }

// CommandID implements Command.
func (c Conclude) CommandID() string { return c.ID }

// CommandID implements Command.
func (c Stop) CommandID() string { return c.ID }

// Effects are what one Step decided: facts to append, then commands to start.
type Effects struct {
	Facts       []Fact
	Commands    []Command
	Transitions []Transition // derived by Apply, in order (P28)
}
