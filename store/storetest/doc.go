// Package storetest is the suite every log has to pass, whatever it is kept in.
//
// It knows a log by five methods and the errors of package store, so that
// another store can join by giving Run a way to open an empty one. It must not
// look behind those methods.
package storetest
