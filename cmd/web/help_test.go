package main

import (
	"path/filepath"
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

// TestP36_NoFlagGoesUnheard: what contradicts another flag, or does nothing
// without one, is bad usage.
func TestP36_NoFlagGoesUnheard(t *testing.T) {
	for _, args := range []string{"--plan missing.yaml --template host-check", "--set a=b goal"} {
		got := sluice(t, "", append([]string{"run", "--data", t.TempDir()}, strings.Fields(args)...)...).wantCode(t, exitUsage)
		if !strings.Contains(got.err, "--template") {
			t.Errorf("%s: got %s, want the flag named", args, got.err)
		}
	}
}

// TestP34_AFileOfAKilledServerIsNoServer: what it left in the data directory keeps
// no command from opening the data itself.
func TestP34_AFileOfAKilledServerIsNoServer(t *testing.T) {
	cfg := testConfig(t)
	writeFile(t, filepath.Join(cfg.Data, serverFile), `{"url":"http://127.0.0.1:1","token":"x"}`)
	for _, args := range [][]string{{"template", "list"}, {"run", "--template", "host-check"}, {"run", "show disk usage"}} {
		sluice(t, "", append(args, "--data", cfg.Data)...).wantCode(t, exitYes)
	}
}
