package engine

// Transition is one move of one node, as the stream shows it: (Seq, Index)
// orders it in its run (P28, R106).
type Transition struct {
	Seq   int64
	Index int
	Node  string
	From  NodeState
	To    NodeState
	Rule  string // T1..T19
}

// Node states as small numbers, in the order of nodeStates.
const (
	pending = iota
	ready
	running
	waiting
	blocked
	retryable
	executed
	failed
	skipped
	cancelled
	stateCount
)

func (s nodeState) name() NodeState {
	switch s {
	case pending:
		return NodePending
	case ready:
		return NodeReady
	case running:
		return NodeRunning
	case waiting:
		return NodeWaiting
	case blocked:
		return NodeBlocked
	case retryable:
		return NodeRetryable
	case executed:
		return NodeExecuted
	case failed:
		return NodeFailed
	case skipped:
		return NodeSkipped
	}
	return NodeCancelled
}

type nodeState uint8

// terminal states have no exit (R14).
func (s nodeState) terminal() bool { return s >= executed }

// rule names the transition from one state to another, "" where none exists
// (requirements §4 as amended by P4). T18 and T19 are told from T3 and T4 by
// their states alone.
func rule(from, to nodeState) string {
	switch from {
	case pending:
		return rulePending(to)
	case ready:
		return ruleReady(to)
	case running:
		return ruleRunning(to)
	case waiting:
		return ruleWaiting(to)
	case blocked:
		return ruleBlocked(to)
	case retryable:
		return ruleRetryable(to)
	}
	return ""
}

func rulePending(to nodeState) string {
	switch to {
	case ready:
		return "T1"
	case blocked:
		return "T6"
	case failed:
		return "T15"
	case cancelled:
		return "T14"
	case skipped:
		return "T17" // or T13; the fact's reason tells
	}
	return ""
}

func ruleReady(to nodeState) string {
	switch to {
	case running:
		return "T2"
	case waiting:
		return "T3"
	case blocked:
		return "T6"
	case skipped:
		return "T13"
	case cancelled:
		return "T14"
	case failed:
		return "T16"
	}
	return ""
}

func ruleRunning(to nodeState) string {
	switch to {
	case executed:
		return "T8"
	case retryable:
		return "T9"
	case failed:
		return "T10"
	case skipped:
		return "T13"
	case cancelled:
		return "T14"
	case waiting:
		return "T18"
	}
	return ""
}

func ruleWaiting(to nodeState) string {
	switch to {
	case pending:
		return "T4"
	case cancelled:
		return "T5" // or T14; the fact's reason tells
	case skipped:
		return "T13"
	case executed:
		return "T19"
	}
	return ""
}

func ruleBlocked(to nodeState) string {
	switch to {
	case pending:
		return "T7"
	case skipped:
		return "T13"
	case cancelled:
		return "T14"
	case failed:
		return "T16"
	}
	return ""
}

func ruleRetryable(to nodeState) string {
	switch to {
	case pending:
		return "T11"
	case failed:
		return "T12"
	case skipped:
		return "T13"
	case cancelled:
		return "T14"
	}
	return ""
}
