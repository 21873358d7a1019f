// Package sim is a simulated world around the core: tools with latencies and
// faults, people who take their time, policies that change, and a process that
// is killed at any fact. Its clock is virtual and everything random comes from
// one seed, so a failure is reproduced by its seed alone.
//
// What happens to an attempt, or how a person decides, is drawn from the seed
// and the name of the thing, never from the order in which things happen: a run
// that was killed meets the same world as one that was not (P45).
//
// The package must not read a clock, a file or the network.
package sim
