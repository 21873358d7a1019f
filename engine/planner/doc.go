// Package planner is the built-in planner: plain code that turns a goal in
// words into a plan, and verified outputs into a report, without a model.
//
// Propose reads a goal in one direction: tokens (quoted text, paths and numbers
// are data and never split), clauses, phrases (polarity, verb, body), then per
// phrase the tools that the Index finds in the catalogue and the rules that
// accept one of them by verb and by object. A rule accepts only where it can
// account for every word that carries meaning: bm25 over a short catalogue is
// no threshold for declining. What no rule accepts is listed as unplanned with
// its reason and never guessed.
//
// Invariants: a negated clause and quoted text never produce a step; a step that
// changes something needs a verb that says so and a target that is named; every
// reference reads a field that the catalogue declares; the clauses of a goal
// joined again are the goal.
//
// The package is pure: no clock, I/O, randomness or goroutine. The index is
// declared here and implemented by the store.
package planner
