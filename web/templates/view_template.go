package templates

// Templates is the list of templates.
type Templates struct {
	Shell
	Rows []TemplateRow
}

// TemplateRow is one template in the list, by its newest version.
type TemplateRow struct {
	Name    string
	Title   string
	Version int
	Slots   []string
	State   string // "offered", "quarantined" or "broken"
	Owner   string
	Runs    []TemplateRun // the newest first
	At      int64
}

// TemplateRun is one run of a version.
type TemplateRun struct {
	ID        string
	Status    string
	Code      string
	CreatedAt int64
}

// TemplateView is one version of a template.
type TemplateView struct {
	Shell
	TemplateRow
	Description string
	Match       []string
	From        string // run id, "" for none
	FromWords   string
	SavedBy     string
	Hash        string
	Reason      string // why it is not offered
	Steps       []OutlineStep
	Fields      []SlotField
	Intent      string
	Review      bool
	Key         string
	Problem     string
	Versions    []TemplateVersion
	Findings    []Finding
	CanRun      bool
	Scopes      []ScopeChoice
}

// OutlineStep is one step of a plan as an outline shows it.
type OutlineStep struct {
	ID, Tool string
	After    []string
	Notes    []string // "asks a person", "if decide.value.send eq true"
	Slots    []string
	Params   []OutlineParam
}

// OutlineParam is what a step is called with: a value, or a field of a step.
type OutlineParam struct {
	Name, Value string
	IsRef       bool
}

// ScopeChoice is a scope that a run may have.
type ScopeChoice struct {
	Name string
	On   bool
}

// SlotField is one field of the form.
type SlotField struct {
	Name        string
	Type        string
	Description string
	Value       string
	Choices     []string
	Required    bool
	Problem     string
	Min, Max    string
	Checked     bool
	Long        bool // more than a line
}

// TemplateVersion is one row of the versions.
type TemplateVersion struct {
	Version int
	State   string
	By      string
	At      int64
	Current bool
}

// TemplateNew is the form that makes a template of a run or a draft.
type TemplateNew struct {
	Shell
	Run, Draft  string
	Goal        string
	Name        string
	Title       string
	Description string
	Match       string // one phrase a line
	Slots       []SlotChoice
	Problem     string
	Steps       []OutlineStep
	Dropped     int
	PhraseHint  string
}

// SlotChoice is one value that could become a slot.
type SlotChoice struct {
	Key         string
	Where       string // "read_notes_txt path"
	Value       string
	Type        string
	Name        string
	Description string
	On          bool
	InGoal      bool
}
