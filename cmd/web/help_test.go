package main

import (
	"strings"
	"testing"
)

// TestP36_HelpNamesWhatACommandUses: who verifies a log is not asked to read the
// settings of models and mail.
func TestP36_HelpNamesWhatACommandUses(t *testing.T) {
	for command, wants := range map[string]bool{"audit verify": false, "audit export": false, "erase": false, "token add": false,
		"policy dry-run": false, "run": true, "serve": true, "models check": true} {
		help := sluice(t, "", append(strings.Fields(command), "--help")...).out
		if !strings.Contains(help, "-data") || strings.Contains(help, "-planner-url") != wants {
			t.Errorf("%s: got %s\nwant the data directory, and models: %v", command, help, wants)
		}
	}
}
