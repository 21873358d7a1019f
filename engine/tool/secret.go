package tool

import (
	"regexp"
	"strings"
)

// secretBytesMin is the shortest value redacted because of its variable's name:
// shorter ones occur in ordinary text and would make it unreadable.
const secretBytesMin = 8

// credential is a form that gives a secret away wherever it stands.
type credential struct {
	kind   string
	hints  []string // one of them occurs in every match; spares the expression
	form   *regexp.Regexp
	secret int // the group that is the secret; 0 means the whole match
}

// credentials lists the well-known forms, most telling first.
func credentials() []credential {
	return []credential{
		{"private_key", []string{"PRIVATE KEY"},
			regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`), 0},
		{"aws_key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), 0},
		{"github_token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
			regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})`), 0},
		{"gitlab_token", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`), 0},
		{"slack_token", []string{"xox"}, regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`), 0},
		{"google_api_key", []string{"AIza"}, regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`), 0},
		{"npm_token", []string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}`), 0},
		{"api_key", []string{"sk-", "sk_", "rk_"},
			regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[0-9A-Za-z]{16,})`), 0},
		{"jwt", []string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), 0},
		{"url_with_password", []string{"://"},
			regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`), 1},
	}
}

// hinted says whether the expression is worth trying on the text.
func (c credential) hinted(text string) bool {
	for _, hint := range c.hints {
		if strings.Contains(text, hint) {
			return true
		}
	}
	return false
}

// find gives the ranges of the secrets of this form in the text, in order.
func (c credential) find(text string) [][2]int {
	if !c.hinted(text) {
		return nil
	}
	var ranges [][2]int
	for _, match := range c.form.FindAllStringSubmatchIndex(text, -1) {
		ranges = append(ranges, [2]int{match[2*c.secret], match[2*c.secret+1]})
	}
	return ranges
}

// suspectKind names what makes a variable look like a secret: the form of its
// value first, then its name; "" when nothing does.
func suspectKind(forms []credential, name, value string) string {
	for _, form := range forms {
		if len(form.find(value)) > 0 {
			return form.kind
		}
	}
	if len(value) >= secretBytesMin && secretName(name) {
		return "generic_secret"
	}
	return ""
}

// secretName says whether a variable's name promises a secret as its value.
func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, place := range []string{"_FILE", "_PATH", "_DIR", "_SOCK", "_HOME"} {
		if strings.HasSuffix(upper, place) { // names where a secret is, not the secret
			return false
		}
	}
	for _, part := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE", "APIKEY"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	words := strings.FieldsFunc(upper, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	for i, word := range words {
		if strings.HasSuffix(word, "KEY") || strings.HasSuffix(word, "KEYS") || word == "PASS" || word == "PAT" {
			return true
		}
		if word == "PWD" && i > 0 { // MYSQL_PWD, but neither PWD nor OLDPWD
			return true
		}
	}
	return false
}
