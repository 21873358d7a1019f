// Package tidy reads the repository as text, as syntax and as types, and says
// where it breaks the rules that ARCHITECTURE.md states for every file.
//
// Each rule is a function from a Tree to Problems; tidy_test.go at the root
// decides which rules hold with which table, and shows each of them a violation
// first. The package reports and never changes a file. It imports none of the
// product's packages: it must be able to read them when they do not compile.
package tidy
