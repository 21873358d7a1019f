package templates

// Assets are the content-hashed URLs of the committed bundles.
type Assets struct {
	CSS      string // app.css
	GraphCSS string // graph.css, run page with the graph only
	Live     string // live.js, every signed-in page
	Graph    string // graph.js, run page with the graph only
	Icon     string // icon.svg

	Policy, PolicyCSS   string // policy.js and policy.css, policy and tools only
	Builder, BuilderCSS string // builder.js and builder.css, builder only
}

// Shell is what every page shows around its content.
type Shell struct {
	Title   string // of the page, without the product's name
	Section string // "home", "runs", "approvals" or "": the place marked in the navigation
	Theme   string // "light", "dark" or "" to follow the system; from the cookie "theme"
	User    string // display name; "" shows no navigation (not signed in)
	Admin   bool   // sees the settings
	Waiting int    // open requests this person may answer
	Now     int64  // µs UTC, the moment of rendering
	Run     string // "r_…" on the run page, "" elsewhere
	Seq     int64  // the sequence number the run page shows
	Assets  Assets
}

// SignIn is the page for somebody without a session.
type SignIn struct {
	Shell
	Problem string // one sentence about a link that did not work, or ""
	Command string // what prints a new link, for instance "sluice serve"
}

// Home is the start page.
type Home struct {
	Shell
	Goal    string // refilled after a refused submit
	Intent  string // "observe", "operate" or "override"
	Review  bool   // stop at the plan
	Key     string // idempotency key of the next submit
	Problem string // why the submit was refused, or ""
	Planner string // who plans: "builtin" or "model:…"
	Needs   []Need
	Runs    []RunRow
}

// Need is one request that waits for the person who looks at the page.
type Need struct {
	ID        string // "a_…"
	Title     string // a verb sentence
	Tool      string
	Goal      string // of the run
	By        string // who asked, "you" for the viewer
	ExpiresAt int64  // µs UTC, 0 for no limit
	Question  bool   // true: an outcome is to be attested, not a call approved
	Plan      bool   // true: a plan waits to be started, ID is the run's
}

// RunRow is one run in a list.
type RunRow struct {
	ID        string
	Goal      string
	Status    string // P3
	Code      string // "" until ended
	Waiting   int    // requests the viewer may answer
	Intent    string
	Steps     int
	Failed    int    // of them
	Cost      string // of models, "" without one
	CreatedAt int64
	EndedAt   int64 // 0 until ended
}

// Runs is the list of runs with its filters.
type Runs struct {
	Shell
	Query   string // of the search box
	Filters []Filter
	Rows    []RunRow
	First   string // URL of the first page, "" on it
	Next    string // URL of the next page, "" on the last
}

// Filter is one choice above a list.
type Filter struct {
	Label string
	URL   string
	Count int // shown when above 0
	On    bool
}

// ErrorPage is any page that could not be shown, or an action that was refused (P41).
type ErrorPage struct {
	Shell
	Status   int    // HTTP status
	Title    string // what happened, as a sentence without full stop
	Text     string // what the person can do
	Detail   string // P41 code, rule or id, in small mono; "" for none
	Who      string // of a conflict: who was faster, "" otherwise
	At       int64  // of a conflict: when
	Action   string // label of the way out, "" for "Back to home"
	ActionTo string // its URL
}

// Person is somebody named on a page.
type Person struct {
	Name string
	You  bool
}
