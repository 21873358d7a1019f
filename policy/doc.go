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
//
// # Stages
//
// In the order of their cost, each ending the evaluation when it denies (R43):
//
//  1. scope: kill switches, unknown scopes, the union of the allowlists;
//  2. impact: at most the lower of intent and the caps that match;
//  3. approval: every rule that matches asks, the plan's flag adds an ask, and
//     one approval held for exactly this call answers them all.
//
// Impact is ranked in this order: what the tool declares for the parameters, at
// its highest while some are unresolved; then the overrides of the policy, of
// which the highest holds and which lower only with a reason; then the floor of
// override for tools that act outside. A tool that nobody knows is denied at
// every intent.
package policy
