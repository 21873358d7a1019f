package tool

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvList_MasksValuesAndNamesSuspects(t *testing.T) {
	env := []string{
		"PATH=/bin", "EMPTY=", "API_TOKEN=abcdefgh12", "SHORT_KEY=abc", "AWS=AKIAABCDEFGHIJKLMNOP",
		"GH=ghp_" + strings.Repeat("a", 36), "DATABASE_URL=postgres://u:hunter2@db/x", "PEM=-----BEGIN PRIVATE KEY-----\nx",
		"=odd", "alone", "TOKEN_FILE=/run/secrets/token",
	}
	w := newWorld(t, env)
	var got envReport
	out := w.want("env_list", `{}`, &got)
	var suspects []string
	for _, s := range got.Suspects {
		suspects = append(suspects, s.Name+":"+s.Kind)
	}
	want := "API_TOKEN:generic_secret AWS:aws_key DATABASE_URL:url_with_password GH:github_token PEM:private_key"
	if strings.Join(suspects, " ") != want || got.SuspectCount != 5 || got.Total != 9 {
		t.Errorf("got %d of %d: %v\nwant 5 of 9: %s", got.SuspectCount, got.Total, suspects, want)
	}
	for i, variable := range got.Variables {
		if i > 0 && got.Variables[i-1].Name > variable.Name {
			t.Errorf("%s is out of order", variable.Name)
		}
		if _, value, _ := strings.Cut(env[slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, variable.Name+"=") })], "="); len(value) != variable.LengthBytes {
			t.Errorf("%s: got length %d, want %d", variable.Name, variable.LengthBytes, len(value))
		}
	}
	for _, value := range []string{"/bin", "abcdefgh12", "AKIA", "ghp_", "hunter2", "BEGIN", "/run"} {
		if strings.Contains(string(out.Output), value) {
			t.Errorf("a value shows: %q in %s", value, out.Output)
		}
	}
}
