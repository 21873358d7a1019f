package templates

// Approvals is the inbox beside one open packet.
type Approvals struct {
	Shell
	Tab    string // "mine", "all" or "decided"
	Rows   []InboxRow
	Others []InboxRow // waiting for somebody else, on tab "mine"
	Packet *Packet    // nil when nothing is open
	Next   string     // URL of the next page of rows, "" at the end
}

// InboxRow is one request in the list.
type InboxRow struct {
	ID        string
	Title     string
	Detail    string // run and requester in a few words
	Tool      string
	State     string // as Packet.State
	ExpiresAt int64
	DecidedAt int64
	Question  bool
	On        bool // the open one
}

// The states of a packet. Only StateOpen shows a form.
const (
	StateOpen     = "open"     // the viewer may decide
	StateOthers   = "others"   // somebody else must decide; Packet.MayNot says why
	StateCounted  = "counted"  // the viewer approved, more are needed
	StateApproved = "approved" // decided
	StateDenied   = "denied"
	StateExpired  = "expired"
	StateVoided   = "voided"   // the run ended or the step was cancelled first
	StateAttested = "attested" // an unknown outcome was answered
)

// Packet is everything a person needs to decide one call (R73), in the order
// in which it is shown.
type Packet struct {
	ID         string // "a_…"
	Hash       string // the binding that the answer repeats (P21)
	Key        string // idempotency key of the answer
	Question   bool   // an unknown outcome is to be attested (T18, T19)
	State      string
	Title      string // "Delete notes.txt from the workspace"
	Tool       string
	Impact     int
	ImpactName string
	Reversible bool
	Undo       string // how it can be taken back, "" when it cannot
	External   bool
	ExpiresAt  int64  // 0 for no limit
	OnExpiry   string // "then denied, nothing is deleted"
	Requester  Person
	Run        string
	Goal       string
	Node       string
	Place      string // "plan v1, 4 of 6 steps done"
	Dag        Dag
	Args       []Param
	Preview    *Preview
	Why        []string     // first sentence first
	Rules      []PolicyLink // by which it stopped
	Cleared    []string     // what authorities answered before
	ModelText  string       // the agent's stated reason, "" for none
	Flags      []Flag
	History    string
	IfApprove  string // what approving does, after the words "Approve once"
	IfDeny     string
	Needed     string // "1 more of 2", "" when one person decides
	MayNot     string // why this viewer cannot decide
	Decision   *Decision
	Problem    string // why an answer was refused, shown at the reason
	Late       string // this viewer answered after somebody else: "Your answer was not used."
	Position   string // "1 of 3"
}

// Flag is one risk with its explanation.
type Flag struct{ Title, Text string }

// Preview shows what the call would do.
type Preview struct {
	Caption string // "notes.txt, 412 bytes"
	Aside   string
	Lines   []PreviewLine
	More    int    // lines left out
	Note    string // "First 40 of 120 lines."
}

// PreviewLine is one line; Kind is "", "add", "del" or "same".
type PreviewLine struct{ Kind, Text string }

// Decision is an answer somebody gave.
type Decision struct {
	Result string // a packet state
	Who    Person
	At     int64
	Reason string
}

// Dag is the step's place in the plan, one hop each way.
type Dag struct {
	Before     []DagNode
	Self       DagNode
	After      []DagNode
	MoreBefore int // predecessors left out
	MoreAfter  int
}

// DagNode is one step of the small picture.
type DagNode struct {
	ID    string
	Tool  string
	State string
	Data  bool // the edge carries a value
}
