package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestP19_ARestartTakesNoKillSwitchBack: a policy file that has not changed since
// it was published is not published again over what people did meanwhile; a
// changed one is.
func TestP19_ARestartTakesNoKillSwitchBack(t *testing.T) {
	cfg := withPolicy(t, testConfig(t), "kill_switches: []\n")
	t.Run("before", func(t *testing.T) {
		o := worldOf(t, cfg).operator()
		o.want(http.StatusCreated, o.post("/api/v1/tools/git.log/kill", `{"reason":"it leaks"}`), nil)
	})
	t.Run("after", func(t *testing.T) {
		w := worldOf(t, cfg)
		got := w.operator().active()
		if got.Version != 2 || got.By != "user:1" || w.app.policies.Current().Hash() != got.Hash || !strings.Contains(got.YAML, "git.log") {
			t.Errorf("got version %d by %s, want the kill switch in force", got.Version, got.By)
		}
		if !strings.Contains(w.logs.String(), "has not changed since it was published") {
			t.Error("nobody was told that the file is not in force")
		}
	})
	t.Run("changed", func(t *testing.T) {
		writeFile(t, cfg.Policy, policyHead+"kill_switches: [git.status]\n")
		w := worldOf(t, cfg)
		if got := w.operator().active(); got.Version != 3 || got.By != "system" || w.app.policies.Current().Hash() != got.Hash {
			t.Errorf("got version %d by %s, want the changed file in force", got.Version, got.By)
		}
	})
}
