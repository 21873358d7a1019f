package templates

// PolicyEditor is the page of the policy: the draft as tables and as YAML, what
// it would have changed, and the bar that publishes it.
type PolicyEditor struct {
	Shell
	Active    PolicyVersion
	MayEdit   bool
	Text      string
	Lines     []CodeLine
	Base      int    // the version the text was made from
	Seen      string // of the text that the tables show
	DraftID   string
	Revision  int64
	SavedAt   int64 // µs UTC, 0 for no draft
	Tab, Look string
	Tables    []PolicyTable
	Problems  []PolicyProblem
	Warnings  []string
	Refused   string // why the last action was refused
	Asking    bool   // the refused action was to publish: its menu is open
	Late      *PolicyVersion
	Reason    string
	Changes   int // places that differ from the active version
	Diff      []DiffLine
	Trial     *PolicyTrial
	Call      TryCall
}

// Next is the version that publishing would make.
func (v *PolicyEditor) Next() int { return v.Active.Version + 1 }

// PolicyVersion is one version in a history.
type PolicyVersion struct {
	Version int
	Who     Person
	At      int64
	Reason  string
	Base    int
	Hash    string
	Active  bool
	On      bool // the one that is shown
}

// PolicyProblem is one thing wrong with a text, at its place.
type PolicyProblem struct {
	Line, Col int
	Pointer   string
	Message   string
}

// CodeLine is the gutter and background of one line.
type CodeLine struct {
	N    int
	Mark string // "added", "changed", "error" or ""
	Cut  bool   // lines of the active version are missing above this one
}

// DiffLine is one line of a comparison.
type DiffLine struct {
	Op   string // "add", "del", "same" or "gap"
	A, B int    // line numbers, 0 where it has none
	Text string
}

// PolicyTable is one section of a document as rows.
type PolicyTable struct {
	ID, Title string
	Note      string
	Heads     []string
	Counted   bool // rows say how many recorded calls they took part in
	Rows      []PolicyRow
	Loose     []PolicyCell // settings of the section beside its rows
	Add       PolicyAdd
	Empty     string
	Problems  int
	Body      string // of a section without a table: its YAML
}

// PolicyRow is one entry.
type PolicyRow struct {
	Pointer string
	Name    string // for labels
	Mark    string // "new", "changed" or ""
	Cells   []PolicyCell
	Fixed   bool // can not be removed
	Problem string
	Rule    string // as decisions cite it, "" for what they do not cite
	Count   string // recorded calls that it took part in, "" before a dry run
}

// PolicyCell is one value.
type PolicyCell struct {
	Name    string // of the form field: an operation and a pointer
	Label   string
	Value   string
	Options []string // a choice instead of a text; the first is for none
	Wide    bool
	Fixed   bool
	Problem string
	Link    string // makes it a link, as far as it is fixed
}

// PolicyAdd is the form that adds a row.
type PolicyAdd struct {
	Op    string // "add:/kill_switches"
	Label string // of the button
	Field string // label of the text, "" for a row that needs none
}

// TryCall is a call that nobody made, and what the draft and the policy in force
// say of it.
type TryCall struct {
	Tool, Params, Intent, Scopes string
	Tools, Intents               []string // to choose from
	Draft, Active                *CallAnswer
	Refused                      string
}

// CallAnswer is the gate's answer to a call.
type CallAnswer struct {
	Answer, Stage, Impact, Limit string
	Rules, Reasons               []string
}

// PolicyTrial is what a draft would have changed.
type PolicyTrial struct {
	Calls, Unchanged, Erased, Left int
	Reasked                        int // of the unchanged: other people or authorities are asked
	Since                          int64
	Groups                         []TrialGroup
	Rows                           []TrialRow
	Next                           string // cursor
	Same                           bool   // the text says what the active version says
}

// TrialGroup is what goes one way.
type TrialGroup struct {
	Direction, Title, About string
	Total                   int
	Counts                  []TrialCount
}

// TrialCount counts the calls whose answer changes in one way.
type TrialCount struct {
	From, To string
	Count    int
}

// TrialRow is one call whose answer would change.
type TrialRow struct {
	From, To   string
	Direction  string
	Tool       string
	What       string // its parameters in short, "" when the viewer may not see them
	Goal, Node string
	URL        string // "" when the viewer may not see the run
	Rules      string // of the draft
	Why        string
	At         int64
}

// PolicyHistory is one version beside the list of all.
type PolicyHistory struct {
	Shell
	List     []PolicyVersion
	Older    string // URL of the list's next page
	Shown    PolicyVersion
	Text     string
	With     int // the version it is compared with, 0 for none
	Diff     []DiffLine
	MayEdit  bool
	Active   int
	Reason   string
	Refused  string
	SameText bool // says what the version in force says
}

// Tools is the catalogue.
type Tools struct {
	Shell
	Rows []ToolRow
}

// ToolRow is one tool of the catalogue.
type ToolRow struct {
	Name, Summary, Effect, Impact string
	External                      bool
	Scopes                        []string
	Killed                        string // the switch that stops it
	Calls                         int
}

// ToolPage is one tool.
type ToolPage struct {
	Shell
	ToolRow
	Declared string // impact before the policy
	Depends  bool   // impact depends on parameters
	Timeout  string
	Bytes    string
	Trusted  []string
	Sinks    []string
	In, Out  []SchemaRow
	Answers  []ToolAnswer
	Calls    []ToolCall
	Older    string
	MayEdit  bool
	Own      bool // the switch names this tool alone, so it can be taken back here
	Version  int  // of the policy in force
	Reason   string
	Refused  string
}

// SchemaRow is one field of a schema.
type SchemaRow struct {
	Name, Type, Limits, About string
	Required                  bool
}

// ToolAnswer is what the policy says of a tool under one intent.
type ToolAnswer struct {
	Intent, Scope string
	Answer        string
	Why           string
}

// ToolCall is one recorded decision about a tool.
type ToolCall struct {
	Answer, Goal, URL, Node string
	At                      int64
}
