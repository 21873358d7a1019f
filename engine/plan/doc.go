// Package plan holds what a plan declares and what compiling it proves.
//
// Parse reads a document (form 1, the index form, the node/edge form) into a
// Plan; Compile runs the checks C01-C12, C16 and C17 over the whole graph,
// normalises it (P10) and returns a Compiled plan with its canonical hash, or
// findings that name rule, step and pointer. Nothing executes from a plan that
// did not compile.
//
// The package is pure: no clock, I/O or goroutine. A Compiled plan never changes.
package plan
