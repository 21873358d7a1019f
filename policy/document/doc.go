// Package document reads and writes policy documents as YAML (P16). It is pure.
//
// It must not decide what a policy means: policy.Check does, and this package
// only finds the line and column of what Check refuses. What it adds is what
// YAML itself can do wrong: unknown and duplicate keys, wrong kinds of value,
// anchors and aliases, several documents, and sizes beyond the limits.
package document
