// Package clearance asks external authorities over HTTP whether a call may run
// (design §6, R47). An authority gets one POST with the tool, its parameters,
// the person, the run and a fresh nonce; only a well-formed, timely answer that
// repeats the nonce can allow. Everything else is a denial with a word that says
// why, so that whoever stands between can hold a call up but never let one pass.
//
// The package must not know policies, runs or the log: it is given an address
// and values, and gives an answer.
package clearance
