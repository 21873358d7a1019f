// Package policy is the gate: Decide answers whether one tool call may run,
// and Authorise mints the Grant without which no tool can be opened (P18).
//
// It is pure: no clock, randomness, I/O, goroutine or model. The same policy
// and call give the same decision, byte for byte, so recorded calls can be
// decided again under a draft.
//
// Invariants: default deny (R44); deny beats ask beats allow (P16); an unknown
// impact ranks highest (R46); only Authorise mints a Grant, and only when both
// the pinned and the current policy allow (P19).
package policy
