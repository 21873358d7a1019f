// Package compute evaluates a small program in Starlark: exact arithmetic and
// the shaping of data, without a shell.
//
// A program is one expression over input, or a file that defines main(input).
// It is pure: no clock, no randomness, no files, no network, no load; the same
// program and input give the same value. It must not start anything, and it
// must not be trusted with memory: a program may ask for more than there is, so
// who evaluates programs of others does so in a process of its own.
//
// Invariants:
//
//   - JSON goes in and out without loss: an integer beyond ±2^53, a number that
//     is none, a key that is no string and text that is not UTF-8 are errors
//     that name the place.
//   - Steps, nesting, the size of the value and what print keeps are limited.
package compute
