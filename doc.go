// Package sluice is the root of the module and holds no code of the program: it
// gives tidy_test.go a package to live in, where the rules that span the whole
// repository are checked (import table, calls banned in the core, sizes).
//
// Nothing may import it.
package sluice
