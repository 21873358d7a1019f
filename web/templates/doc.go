// Package templates renders Sluice's pages from plain view structs.
//
// It imports templ and nothing of ours. A page shows what its view says and
// decides nothing about runs, policy or people; the only choices made here are
// how a word, a colour or a length of time looks. Everything except the graph
// works without script.
//
// Invariants: no style attribute, no event-handler attribute and no script
// other than JSON data and external files (P43); a state is always icon, word
// and colour together (P2); the names of P49 are stable.
//
// The view structs: view.go (what every page has, home, runs), view_run.go
// (run page and inspector), view_approval.go (inbox and packet). Times are
// µs UTC, 0 for "none"; Shell.Now is the moment of rendering.
package templates
