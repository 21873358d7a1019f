package store

import "testing"

func TestP24_ToolOfReadsStartedAttemptsOnly(t *testing.T) {
	for data, want := range map[string]string{
		`{"call":{"tool":"file.read","params":[]},"decision":{}}`: "file.read", `{"id":"kernel.plan#1"}`: "", ``: "", `{"call":null}`: "",
	} {
		if got := toolOf([]byte(data)); got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
}
