package templates

// Settings is the page of what the installation is set to.
type Settings struct {
	Shell
	Roles []SettingRole
	Saved string // role that was just saved, "" for none
}

// SettingRole is one model role with its form.
type SettingRole struct {
	Role      string // "planner" or "executor"
	Model     string // in force, "" for none
	Problem   string // why what is set can not be used, "" when it can
	Refused   string // why the last save was refused, "" when it was not
	Fields    []SettingField
	KeySet    bool
	KeyFrom   string // "page", "environment", …
	KeyFixed  bool   // set where the page can not change it
	ChangedAt int64  // 0 for never
	ChangedBy string
	Test      *SettingTest // nil before a test
}

// SettingField is one field of the form.
type SettingField struct {
	Name    string
	Label   string
	Hint    string
	Example string
	Value   string
	From    string // "flag", "environment", "file", "page", "planner" or ""
	Fixed   bool   // shown, not to be changed here
	Number  bool
}

// SettingTest is what a test found.
type SettingTest struct {
	OK      bool
	Problem string
	Lines   []Pair
	Unsaved bool // the form holds changes that were not saved, and not tested
}
