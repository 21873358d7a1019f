// Package e2e tests the binary as its users meet it: over HTTP, on the command
// line, and in a real browser. It imports none of our packages.
//
// Everything here is behind the build tag e2e (make e2e), because it builds the
// binary and starts processes. The pieces: build_test.go builds the binary once,
// with and without fault injection; serve_test.go starts and kills servers;
// api_test.go and command_test.go speak to them; browser_test.go opens pages and
// collects everything a browser complains about; element_test.go finds what a
// person would find, by role and name (P49).
//
// No test sleeps: each waits for a state with a deadline. Every process that a
// test starts ends with it.
package e2e
