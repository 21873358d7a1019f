// Package plan holds what a plan declares and what compiling it proves.
//
// Parse reads a document (form 1, the index form, the node/edge form) into a
// Plan; Compile runs the checks C01-C12, C16 and C17 over the whole graph,
// normalises it (P10) and returns a Compiled plan with its canonical hash, or
// findings that name rule, step and pointer; Check does both at once, so that a
// fault in the form does not hide one in the graph. Nothing executes from a plan
// that did not compile. Load reads a compiled plan back from its canonical form
// without a catalogue.
//
// A Catalog holds the declarations of tools, never a way to call one. Resolve,
// Holds, Field and Splice are what a run needs of references, guards and
// parameters at dispatch; values are always inserted as data.
//
// Invariants: every bound on input has a name here; pointers refer to the
// document as written; no schema makes this package read a file or open a
// connection; equal plans and environments give equal bytes.
//
// The package is pure: no clock, I/O or goroutine. A Compiled plan never changes.
package plan
