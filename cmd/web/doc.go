// Command sluice is the one binary: it wires every part, owns flags, signals
// and exit codes, and holds no logic of its own. `sluice help` lists what it does.
package main
