// Command req lists the requirement numbers that no test names (make req).
//
// The numbers are built in, because the documents that state them are not part
// of the repository: R1-R108 and C01-C21 (requirements), T1-T19 (transitions of
// a node) and P1-P49 with P11a, P31a, P36a and P42a (specification).
//
// A number counts as named when it occurs in the name of a Test, Fuzz or
// Benchmark function (TestR33_PatchNeedsRetryFirst, TestP4_T14_CancelsDown), in
// the literal name of a subtest (t.Run("C05 ...")), as a whole string literal of
// a test file ("C05", the form a table of cases has), or in a patch below
// e2e/mutants. The list informs: it never fails a build, since naming a number
// proves less than the test behind it.
package main
