// Command mutants proves that the requirement tests see what they are for
// (make mutants, P46).
//
// Beside it lie patches, each one small wrong change to the product:
//
//	# P31: commands start before their facts are committed
//	# kills: go test ./engine/exec -run TestP31_CommitBeforeDispatch
//	--- a/engine/exec/runner.go
//	+++ b/engine/exec/runner.go
//	…
//
// The module is copied to a temporary folder. There the named test must pass,
// and must be a test at all; then the patch is applied and the test must fail.
// A patch that does not apply, or that leaves a package which does not compile,
// is an error: it proves nothing. The checkout itself is never changed.
//
// To add one: edit the product, `git diff > e2e/mutants/name.patch`, put the two
// header lines on top, take the edit back.
package main
