package handlers

import "testing"

// TestP42_ATestThatReachedNobodyClaimsNothingElse: what was not learned is not said.
func TestP42_ATestThatReachedNobodyClaimsNothingElse(t *testing.T) {
	v := testView(&ModelCheck{Configured: true, Listed: "unknown", Problem: "the model server cannot be reached"})
	if len(v.Lines) != 1 || v.Lines[0].Value != "no" || v.Problem == "" {
		t.Errorf("got %+v, want the problem and that nobody was reached", v)
	}
	if v = testView(&ModelCheck{Configured: true, Reached: true, OK: true, Listed: "yes", Structure: "json_schema"}); len(v.Lines) != 6 {
		t.Errorf("got %+v, want every line of a server that answered", v.Lines)
	}
}
