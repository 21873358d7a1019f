// Package template turns plans that worked into plans with named gaps.
//
// A template is a plan of form 1 in which a whole value inside the parameters of
// a step, or the value of a guard, may read {"$slot": "name"}, and in whose goal
// {name} stands for a value. Nothing else can vary: ids, tools, references,
// joins, approvals and contracts are those of the template whatever the values
// are, because Instantiate replaces nothing else (R103). Values are data: they
// are checked against the type and the limits of their slot and never parsed.
//
// The package is pure. Versions and their facts belong to the store.
package template
