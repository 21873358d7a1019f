// Package trace turns facts into what people look at: the graph with its
// places, the events a live page applies, and one sentence per fact.
//
// It is pure and folds with engine.State, so what a page shows at a sequence
// number equals the fold at that number (P40, R106). Nothing that has a place
// ever moves (ui.md §2.3).
package trace
