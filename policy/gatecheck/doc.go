// Package gatecheck is the core of `sluice gate check` (P37): it reads calls as
// JSON Lines and writes decisions as JSON Lines, in order, and needs no store.
//
// It decides by policy.Decide alone and must not know more than the line says.
// A line that cannot be read is denied at the stage input, never skipped.
package gatecheck
