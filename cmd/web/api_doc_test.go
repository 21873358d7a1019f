package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestP41_TheAPIIsDocumentedWhole: each route of the API stands in docs/api.md,
// and that page names no route there is not.
func TestP41_TheAPIIsDocumentedWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "/api/v1"
	named := map[string]bool{}
	for _, part := range strings.Split(string(text), "`") {
		if method, path, ok := strings.Cut(part, " /"); ok && strings.ToUpper(method) == method && !strings.ContainsAny(path, " \n") {
			named[method+" /"+path] = true
		}
	}
	for _, r := range newWorld(t).http.Routes() {
		route := r.Method + " " + strings.TrimPrefix(r.Path, prefix)
		if !strings.HasPrefix(r.Path, prefix) || strings.HasSuffix(r.Path, "*") || strings.Contains(r.Method, "route") {
			continue
		}
		if !named[route] {
			t.Errorf("%s is not in docs/api.md", route)
		}
		delete(named, route)
	}
	for route := range named {
		t.Errorf("docs/api.md has %s, which is no route", route)
	}
}
