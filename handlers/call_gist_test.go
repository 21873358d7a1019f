package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/policy"
)

// TestP20_ACallIsToldFromOthersOfItsTool: a list of calls shows what differs.
func TestP20_ACallIsToldFromOthersOfItsTool(t *testing.T) {
	param := func(name, value string) policy.Param { return policy.Param{Name: name, Value: json.RawMessage(value)} }
	for want, params := range map[string][]policy.Param{
		gistNoParams:             nil,
		"notes.txt":              {param("path", `"notes.txt"`)},
		"top: 5":                 {param("top", `5`)},
		"path: a.txt · limit: 5": {param("limit", `5`), param("path", `"a.txt"`)},
		"to: a@x.example, b@x.example and 1 more · body: two lines · subject: s": {param("body", `"two\n  lines"`),
			param("subject", `"s"`), param("to", `["a@x.example","b@x.example","c@x.example"]`)},
		"path: p · a: 1 · b: true · 1 more":                  {param("a", `1`), param("b", `true`), param("c", `{"x":[]}`), param("path", `"p"`)},
		"content: " + strings.Repeat("x", gistRunes-1) + "…": {param("content", `"`+strings.Repeat("x", 500)+`"`)},
	} {
		if got := callGist(params); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
