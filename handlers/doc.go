// Package handlers translates HTTP and WebSocket requests into inputs of the
// engine, and facts into views. It holds no run logic, speaks no SQL and opens
// no tool; what it needs is declared in ports.go.
//
// Invariants: every route but sign-in and health wants a session or a token;
// every run, socket subscription and download checks who may see it (P35); no
// GET changes state but the one-time sign-in; only sessions of people decide
// (P23); every body has a limit with a name.
package handlers
