// Package exec is the embedded shell of the core: one goroutine owns a live
// run, appends its facts, and only then starts its commands. The duties are
// listed in package engine.
//
// A run that waits for people, is paused or has ended holds no goroutine: it is
// evicted and folded again on its next input (P32). Its deadline stays as a
// timer. The shell knows no store and no tool, only the interfaces in ports.go.
//
// Invariants: facts are durable before a command starts (R53); a failed commit
// drops the State and folds again (P31); a command that is in flight in this
// process is never started twice.
package exec
