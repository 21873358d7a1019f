package templates

// Review is a plan that waits for a person to start it.
type Review struct {
	Run       string
	Base      string // hash of the version
	Version   int
	By        string // "builtin", "model:…" or a person's name
	Template  string // "name@2" when the plan is an instance of it
	Steps     int
	Asks      int // steps that will stop for approval
	Denies    int // steps that the gate would refuse
	ExpiresAt int64
	Gate      []StepGate
	Findings  []Finding
	Diff      []string // what the newest version changed, "kernel changed"
	CanAct    bool
}

// StepGate is the gate's answer to one step before it runs.
type StepGate struct {
	Step, Tool string
	Answer     string // "allow", "ask" or "deny"
	Impact     string
	Why        string
}

// Finding is one thing that compiling a plan found (P38).
type Finding struct {
	Rule     string
	Severity string // "error" or "warning"
	Step     string
	Pointer  string
	Message  string
	Fix      string
}

// PlanEdit is the page that changes a plan under review as text.
type PlanEdit struct {
	Shell
	Run      string
	Goal     string
	Version  int
	CanEdit  bool
	Base     string // hash of the version that is edited
	Text     string // form 1, indented
	Problem  string // why the last text was refused, or ""
	Findings []Finding
}
