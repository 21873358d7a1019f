// Package engine is the deterministic core of a run: it decides and does nothing.
//
// (*State).Step takes one Input and returns Effects: Facts (what happened, to
// append) and Commands (what to do next). (*State).Apply folds one Fact in
// place and is total. Step is "decide a fact, apply it, until nothing follows",
// so the state after Step always equals the fold of its facts. An error means
// the input was refused and the state is unchanged; an impossible state ends
// the run with INTERNAL_FAULT, never the process.
//
// No clock, randomness, I/O, goroutine, lock or logger: inputs carry the time,
// maps are never ranged without sorting, and commands are derived (Outstanding),
// never stored.
//
// # Duties of a shell
//
//  1. Take one input; one goroutine owns a State.
//  2. Step.
//  3. Append the facts in one transaction at the expected sequence number. If
//     that fails, drop the State and fold again.
//  4. Only then publish the facts and start the commands.
//  5. Return every result as an input.
//  6. After a restart fold the log, feed OutcomeUnknown for every attempt that
//     Unresolved names, and start the commands of Outstanding.
package engine
