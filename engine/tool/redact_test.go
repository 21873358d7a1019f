package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestP26_SecretsGoInEverySpelling(t *testing.T) {
	secret := "p\"4s&s <w>rd/\\x+1é"
	r := NewRedactor([]string{"DB_PASSWORD=" + secret, "HOME=/home/ana", "SHORT_TOKEN=abc"})
	escaped, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	spelled := map[string]string{
		"raw": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"json for html": string(escaped[1 : len(escaped)-1]),
		"json":          `p\"4s&s <w>rd/\\x+1é`,
	}
	for name, spelling := range spelled {
		if got := r.Text("before " + spelling + " after"); got != "before [redacted:DB_PASSWORD] after" {
			t.Errorf("%s in text: got %q", name, got)
		}
		if got := r.JSON([]byte(`{"a":[` + quote(spelling) + `]}`)); string(got) != `{"a":["[redacted:DB_PASSWORD]"]}` {
			t.Errorf("%s in JSON: got %s", name, got)
		}
	}
	if got := r.JSON([]byte(`["\u0070\"4s\u0026s \u003cw\u003erd\/\\x+1\u00e9"]`)); string(got) != `["[redacted:DB_PASSWORD]"]` {
		t.Errorf("escaped at will: got %s", got)
	}
	if got := r.JSON([]byte(`{` + quote(secret) + `:1}`)); string(got) != `{"[redacted:DB_PASSWORD]":1}` {
		t.Errorf("as a key: got %s", got)
	}
	for _, kept := range []string{"/home/ana", "abc"} {
		if got := r.Text(kept); got != kept {
			t.Errorf("%q is no secret: got %q", kept, got)
		}
	}
}

func TestP26_SecretsGoInBase64AtAnyOffset(t *testing.T) {
	secret := "s3cr3t-canary-value~~>>"
	r := NewRedactor([]string{"API_KEY=" + secret})
	for shift := range 6 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			encoded := encoding.EncodeToString([]byte(strings.Repeat("#", shift) + secret + "tail"))
			got := r.Text(encoded)
			if !strings.Contains(got, "[redacted:API_KEY]") || len(got) > len(encoded)-len(secret)+len("[redacted:API_KEY]") {
				t.Errorf("offset %d: got %q of %q", shift, got, encoded)
			}
		}
	}
}

// Whatever the secret and its surroundings: it is gone, the JSON stays valid and
// of the same shape, and a second redaction changes nothing.
func TestP26_RedactionByValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringN(8, 40, -1).Filter(func(s string) bool {
			return strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\n\r\x00")
		}).Draw(t, "secret")
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		r := NewRedactor([]string{"MY_SECRET=" + secret})
		document, err := json.Marshal(map[string]any{"n": 12345678901, "list": []string{before, before + secret + after}})
		if err != nil {
			t.Fatal(err)
		}
		got := r.JSON(document)
		var read struct {
			N    int64    `json:"n"`
			List []string `json:"list"`
		}
		if err := json.Unmarshal(got, &read); err != nil || read.N != 12345678901 || len(read.List) != 2 {
			t.Fatalf("got %s (%v)", got, err)
		}
		if strings.Contains(read.List[1], secret) && !strings.Contains("[redacted:MY_SECRET]", secret) {
			t.Fatalf("secret %q still in %q", secret, read.List[1])
		}
		if again := r.JSON(got); !bytes.Equal(again, got) && !strings.Contains("[redacted:MY_SECRET]", secret) {
			t.Fatalf("twice: got %s, want %s", again, got)
		}
	})
}

func TestP26_WellKnownCredentialsGoWithoutAName(t *testing.T) {
	r := NewRedactor(nil)
	upper, mixed := strings.Repeat("ABCD1234", 2), strings.Repeat("aB3d", 12)
	cases := map[string]string{
		"AKIA" + upper:                            "[redacted:aws_key]",
		"ghp_" + mixed[:36]:                       "[redacted:github_token]",
		"github_pat_" + mixed:                     "[redacted:github_token]",
		"glpat-" + mixed[:20]:                     "[redacted:gitlab_token]",
		"xoxb-" + mixed[:20]:                      "[redacted:slack_token]",
		"AIza" + mixed[:35]:                       "[redacted:google_api_key]",
		"npm_" + mixed[:36]:                       "[redacted:npm_token]",
		"sk-" + mixed:                             "[redacted:api_key]",
		"sk_live_" + mixed[:24]:                   "[redacted:api_key]",
		"eyJ" + mixed + "." + mixed + "." + mixed: "[redacted:jwt]",
		"postgres://ana:hunter2@db:5432/x":        "postgres://ana:[redacted:url_with_password]@db:5432/x",
		"redis://:hunter2@cache":                  "redis://:[redacted:url_with_password]@cache",
		"https://example.org/a@b:c":               "https://example.org/a@b:c",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAAA\n-----END RSA PRIVATE KEY-----\n": "[redacted:private_key]\n",
		"-----BEGIN PRIVATE KEY-----\nMIIE cut off":                                    "[redacted:private_key]",
	}
	for text, want := range cases {
		if got := r.Text("x " + text); got != "x "+want {
			t.Errorf("%q: got %q, want %q", text, got, "x "+want)
		}
	}
}

func TestP26_ASecretInsideAnotherValueCounts(t *testing.T) {
	r := NewRedactor([]string{"DATABASE_URL=postgres://ana:hunter2-canary@db/x", "DEPLOY_KEY=line-one-of-the-key\nline-two-of-the-key\n"})
	cases := map[string]string{
		"hunter2-canary":         "[redacted:DATABASE_URL]",
		"2: line-two-of-the-key": "2: [redacted:DEPLOY_KEY]",
	}
	for text, want := range cases {
		if got := r.Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestP26_NamesThatPromiseASecret(t *testing.T) {
	yes := []string{"API_KEY", "api_key", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "SSH_PRIVATE",
		"GOOGLE_CREDENTIALS", "SIGNING_KEYS", "STRIPEKEY", "KEY_1", "VAULT_PASSPHRASE", "ROOT_PASSWD"}
	no := []string{"PATH", "PWD", "OLDPWD", "HOME", "KEYBOARD_LAYOUT", "COMPASS", "SSH_AUTH_SOCK", "TOKEN_FILE", "SECRETS_DIR", "EDITOR", "PATTERN"}
	for _, name := range yes {
		if !secretName(name) {
			t.Errorf("%s: got no secret, want one", name)
		}
	}
	for _, name := range no {
		if secretName(name) {
			t.Errorf("%s: got a secret, want none", name)
		}
	}
}

// One canary in the environment and in the workspace, every shipped tool that
// reads: it is in no output and no detail, in no spelling.
func TestP26_NoToolLetsACanaryOut(t *testing.T) {
	needGit(t)
	canary := "c4n4ry-Zq81-never-shown"
	w := newWorld(t, []string{"PATH=" + os.Getenv("PATH"), "SERVICE_TOKEN=" + canary})
	repo := w.repo("repo")
	w.write("plain.txt", "token = "+canary+"\n")
	w.write("binary.bin", "\x00\xff"+canary)
	w.write("data.json", `{"token":"`+canary+`"}`)
	w.write(canary+"/"+canary+".txt", "x")
	w.write("repo/"+canary+".txt", canary)
	repo.git("add", ".")
	repo.git("commit", "-m", "leak "+canary)
	w.write("repo/"+canary+".txt", "changed "+canary)
	calls := []struct{ tool, params string }{
		{"sysinfo", `{}`}, {"disk_usage", `{}`}, {"net_info", `{}`}, {"process_list", `{}`}, {"env_list", `{}`},
		{"git.find", `{}`}, {"git.status", `{"path":"repo"}`}, {"git.log", `{"path":"repo"}`}, {"git.diff", `{"path":"repo"}`},
		{"file.read", `{"path":"plain.txt"}`}, {"file.read", `{"path":"binary.bin"}`}, {"file.read", `{"path":"data.json"}`},
		{"file.list", `{"recursive":true}`}, {"file.search", `{"query":"c4n4ry"}`},
		{"file.write", `{"path":"new-` + canary + `","content":"` + canary + `"}`},
		{"compute", `{"code":"input","input":"` + canary + `"}`},
		{"file.patch", `{"path":"new-` + canary + `","append":"x"}`}, {"file.patch", `{"path":"plain.txt","edits":[{"old":"nothing ` + canary + `","new":""}]}`},
		{"mail.send", `{"to":["` + canary + `"],"subject":"s","body":"b"}`},
		{"file.delete", `{"path":"new-` + canary + `"}`}, {"file.read", `{"path":"gone-` + canary + `"}`},
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("\x00\xff" + canary))
	marked := 0
	for _, call := range calls {
		out := w.perform(call.tool, call.params)
		text := string(out.Output) + out.Detail
		if strings.Contains(text, canary) || strings.Contains(text, encoded[4:len(encoded)-4]) {
			t.Errorf("%s %s: the canary got out: %s", call.tool, call.params, text)
		}
		if strings.Contains(text, "[redacted:SERVICE_TOKEN]") {
			marked++
		}
		if out.Class == OK && w.registry.Catalog().CheckOutput(call.tool, nil, out.Output) != nil {
			t.Errorf("%s: the redacted output misses its schema: %s", call.tool, out.Output)
		}
	}
	if marked < 10 {
		t.Errorf("got %d outputs with a marker, want the tools to have met the canary at least 10 times", marked)
	}
}

func TestP26_ShippedToolsAreAllInTheCanaryTest(t *testing.T) {
	// A new tool must be added there: this list is what it covers.
	covered := []string{"compute", "disk_usage", "env_list", "file.delete", "file.list", "file.patch", "file.read", "file.search", "file.write",
		"git.diff", "git.find", "git.log", "git.status", "mail.send", "net_info", "process_list", "sysinfo"}
	if got := newWorld(t, nil).registry.Catalog().Names(); !slices.Equal(got, covered) {
		t.Errorf("got tools %v, want %v", got, covered)
	}
}

func TestP26_RedactorLearnsASecretLater(t *testing.T) {
	r := NewRedactor(nil)
	const secret = "a-key-set-on-a-page-canary"
	if got := r.Text(secret); got != secret {
		t.Fatalf("got %q, want it unknown", got)
	}
	r.Learn("model.planner.key", secret)
	r.Learn("model.planner.key", secret)
	for _, text := range []string{"x " + secret + " y", `{"k":"` + secret + `"}`, base64.StdEncoding.EncodeToString([]byte(secret))} {
		if got := r.Text(text); strings.Contains(got, "canary") || !strings.Contains(got, "[redacted:model.planner.key]") {
			t.Errorf("%q: got %q, want it redacted", text, got)
		}
	}
}
