package main

import (
	"flag"
	"path/filepath"
	"testing"

	"sluice/engine/tool"
)

// P42: flag, then environment, then file; the password has no flag.
func TestP42_MailConfiguration(t *testing.T) {
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	writeFile(t, password, "from-a-file\n")
	file := filepath.Join(dir, "sluice.yaml")
	writeFile(t, file, "smtp: {server: \"file.example.org:25\", from: f@example.org, user: u, password: in-the-yaml, tls: tls}\n")

	settled := func(args ...string) tool.Mail {
		t.Helper()
		var c config
		f := flag.NewFlagSet("serve", flag.ContinueOnError)
		c.flags(f)
		if err := f.Parse(append(args, "--data", dir, "--config", file)); err != nil {
			t.Fatal(err)
		}
		if err := c.settle(); err != nil {
			t.Fatal(err)
		}
		return c.SMTP.mail()
	}
	if got, want := settled(), (tool.Mail{Server: "file.example.org:25", From: "f@example.org", User: "u", Password: "in-the-yaml", TLS: "tls"}); got != want {
		t.Errorf("got %v, want the file's", got)
	}
	t.Setenv("SLUICE_SMTP", "env.example.org:587")
	t.Setenv("SLUICE_SMTP_FROM", "e@example.org")
	t.Setenv("SLUICE_SMTP_PASSWORD", "from-the-environment")
	if got := settled(); got.Server != "env.example.org:587" || got.From != "e@example.org" || got.Password != "from-the-environment" {
		t.Errorf("got %v, want the environment's", got)
	}
	if got := settled("--smtp", "flag.example.org:465"); got.Server != "flag.example.org:465" {
		t.Errorf("got %v, want the flag's", got.Server)
	}
	t.Setenv("SLUICE_SMTP_PASSWORD", "")
	t.Setenv("SLUICE_SMTP_PASSWORD_FILE", password)
	writeFile(t, file, "data: "+dir+"\n")
	if got := settled(); got.Password != "from-a-file" {
		t.Error("the password is not that of the file")
	}
}
