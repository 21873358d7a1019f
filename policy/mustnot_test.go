package policy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// forgeries are programs of another package that try to hold a grant without
// the gate. Each names the compiler's reason, so that none fails by accident.
func forgeries() map[string]struct{ body, reason string } {
	return map[string]struct{ body, reason string }{
		"keyed": {`var G = policy.Grant{isMinted: true}`,
			"unexported field isMinted"},
		"positional": {`var G = policy.Grant{[32]byte{1}, "sha256:00", true}`,
			"implicit assignment to unexported field"},
		"assigned": {`func F() policy.Grant { var g policy.Grant; g.isMinted = true; return g }`,
			"isMinted undefined"},
		"copied": {`func F(g policy.Grant) policy.Grant { g.policy = "sha256:00"; return g }`,
			"policy undefined"},
		"converted": {`type own struct { id [32]byte; policy string; isMinted bool }
var G = policy.Grant(own{isMinted: true})`,
			"cannot convert"},
		"embedded": {`type own struct { policy.Grant }
func F() policy.Grant { var o own; o.isMinted = true; return o.Grant }`,
			"isMinted undefined"},
		"minted": {`func F(c policy.Call) policy.Grant { return policy.mint(&c, "sha256:00") }`,
			"undefined: policy.mint"},
		"decided": {`func F(p *policy.Policy, c policy.Call) policy.Grant { return policy.Decide(p, c) }`,
			"cannot use policy.Decide"},
		"lenient policy": {`var P = &policy.Policy{hash: "sha256:00"}`,
			"unexported field hash"},
		"changed policy": {`func F(p *policy.Policy) { p.rules = nil }`,
			"rules undefined"},
	}
}

// The positive control: what other packages may do does compile, by the same
// steps as the forgeries, so their failing is about what they try.
const allowedProgram = `
var Zero policy.Grant

func F(pinned, current *policy.Policy, c policy.Call) ([32]byte, bool) {
	g, d := policy.Authorise(pinned, current, c)
	return g.ID(), d.Outcome == policy.Allow && g.Valid() && g.Covers(c) && !Zero.Valid()
}`

// TestP18_ForgedGrantsDoNotCompile builds every program as a package of this
// module that exists only in an overlay, so that nothing is written here.
func TestP18_ForgedGrantsDoNotCompile(t *testing.T) {
	for name, program := range forgeries() {
		t.Run(name, func(t *testing.T) {
			output, err := build(t, program.body)
			if err == nil {
				t.Fatalf("the program compiles:\n%s", program.body)
			}
			if !strings.Contains(output, program.reason) {
				t.Errorf("got %s\nwant the reason %q", output, program.reason)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		if output, err := build(t, allowedProgram); err != nil {
			t.Fatalf("the control does not compile: %v\n%s", err, output)
		}
	})
}

func build(t *testing.T, body string) (output string, err error) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatalf("find this package: %v", err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "program.go")
	text := "package program\n\nimport \"sluice/policy\"\n\n" + body + "\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatalf("write program: %v", err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "forged", "program.go"): source}})
	if err != nil {
		t.Fatalf("encode overlay: %v", err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatalf("write overlay: %v", err)
	}
	command := exec.Command("go", "build", "-overlay", overlayFile, "./forged")
	command.Dir = here
	combined, err := command.CombinedOutput()
	return string(combined), err
}
