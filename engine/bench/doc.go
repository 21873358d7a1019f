// Package bench measures the durable kernel beside a bare program that does
// only what physics demands: goroutines and counters, and one group-committed
// SQLite append per transition (P47). Ratios side by side in one run are the
// result; absolute times say more about the machine than about the code.
package bench
