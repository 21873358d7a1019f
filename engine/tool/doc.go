// Package tool holds the shipped tools and the only way to run one of them.
//
// A tool is unexported. What leaves this package is its declaration (Catalog)
// and the Executor, which opens a tool against a policy.Grant, runs it once and
// hands back an Outcome. It must not decide whether a call may run (policy
// does), retry, log or store.
//
// Invariants:
//
//   - Registry.Open is the only way to a tool, and executor.go its only caller
//     (P18). It refuses a grant for another call, a grant used before and the
//     zero grant.
//   - Nothing leaves the Executor unredacted: the values of secret-looking
//     environment variables and well-known credential forms are replaced in
//     outputs and details (P26).
//   - A failure of class unavailable carries UnavailableText and nothing else
//     (P24), so that a model cannot tell a missing program from a denial.
//   - File tools stay inside one os.Root workspace; git tools start git only in
//     repositories whose own configuration cannot run a program (spec.md part G).
package tool
