package tool

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Redactor replaces secrets by value (P26): the values of environment variables
// that look like secrets, also when escaped for JSON, for a URL or in base64,
// and the well-known forms of credentials. It is safe for concurrent use, and
// redacting twice changes nothing more.
type Redactor struct {
	values atomic.Pointer[strings.Replacer]
	forms  []credential

	mu    sync.Mutex // of found
	found []valueForm
}

// valueForm is one spelling of one secret value.
type valueForm struct {
	text   string
	marker string
}

// NewRedactor reads the secrets out of NAME=value pairs. The marker left in
// their place is "[redacted:NAME]".
func NewRedactor(env []string) *Redactor {
	r := &Redactor{forms: credentials()}
	r.learn(env)
	return r
}

// Learn adds a secret that is no variable, such as "model.planner.key": it is
// redacted from now on, if its name promises a secret.
func (r *Redactor) Learn(name, secret string) { r.learn([]string{name + "=" + secret}) }

func (r *Redactor) learn(pairs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		for _, secret := range secretsOf(r.forms, name, value) {
			for _, text := range spellings(secret) {
				r.found = append(r.found, valueForm{text, marker(name)})
			}
		}
	}
	// The longest first, so that a secret that contains another goes as a whole.
	slices.SortStableFunc(r.found, func(a, b valueForm) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
	})
	r.found = slices.CompactFunc(r.found, func(a, b valueForm) bool { return a.text == b.text })
	all := make([]string, 0, 2*len(r.found))
	for _, f := range r.found {
		all = append(all, f.text, f.marker)
	}
	r.values.Store(strings.NewReplacer(all...))
}

// marker stands where a secret stood. Of a variable's name only what cannot
// disturb JSON or a terminal is kept.
func marker(name string) string {
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}
	return "[redacted:" + strings.Map(clean, clip(name)) + "]"
}

// secretsOf gives the secret parts of one variable's value.
func secretsOf(forms []credential, name, value string) []string {
	var secrets []string
	if secretName(name) {
		secrets = append(secrets, value, strings.TrimSpace(value))
		for line := range strings.Lines(value) {
			secrets = append(secrets, strings.TrimSpace(line)) // a key of several lines is also shown by line
		}
	}
	for _, form := range forms {
		for _, at := range form.find(value) {
			secrets = append(secrets, value[at[0]:at[1]])
		}
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < secretBytesMin })
	slices.Sort(secrets)
	return slices.Compact(secrets)
}

// spellings lists the forms in which a secret may stand in a text.
func spellings(secret string) []string {
	all := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	if escaped, err := encode(secret); err == nil {
		all = append(all, string(escaped[1:len(escaped)-1]))
	}
	if escaped, err := json.Marshal(secret); err == nil {
		all = append(all, string(escaped[1:len(escaped)-1]))
	}
	for shift := range 3 {
		all = append(all, base64Core(base64.StdEncoding, secret, shift), base64Core(base64.URLEncoding, secret, shift))
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < secretBytesMin })
	slices.Sort(all)
	return slices.Compact(all)
}

// base64Core gives the characters that a secret alone determines when it stands
// shift bytes after a group of three.
func base64Core(encoding *base64.Encoding, secret string, shift int) string {
	text := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
	if (shift+len(secret))%3 != 0 {
		text = text[:len(text)-1]
	}
	return text[min(len(text), []int{0, 2, 3}[shift]):]
}

// Text redacts plain text.
func (r *Redactor) Text(text string) string {
	if len(text) < secretBytesMin {
		return text
	}
	text = r.values.Load().Replace(text)
	for _, form := range r.forms {
		text = form.replace(text)
	}
	return text
}

// replace puts the form's kind where its secrets stand.
func (c credential) replace(text string) string {
	ranges := c.find(text)
	if ranges == nil {
		return text
	}
	var out strings.Builder
	from := 0
	for _, at := range ranges {
		out.WriteString(text[from:at[0]])
		out.WriteString(marker(c.kind))
		from = at[1]
	}
	out.WriteString(text[from:])
	return out.String()
}

// JSON redacts every string of a valid JSON text, keys included, whatever the
// way it is escaped. The result is valid JSON of the same shape; numbers stay.
func (r *Redactor) JSON(valid []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(valid); i++ {
		if valid[i] != '"' {
			continue
		}
		end := stringEnd(valid, i)
		if replaced, changed := r.literal(valid[i:end]); changed {
			out = append(append(out, valid[from:i]...), replaced...)
			from = end
		}
		i = end - 1
	}
	if from == 0 {
		return valid
	}
	return append(out, valid[from:]...)
}

// literal redacts one JSON string with its quotes.
func (r *Redactor) literal(literal []byte) ([]byte, bool) {
	if len(literal) < secretBytesMin+len(`""`) {
		return nil, false
	}
	text := string(literal[1 : len(literal)-1])
	if bytes.IndexByte(literal, '\\') >= 0 {
		if err := json.Unmarshal(literal, &text); err != nil {
			return nil, false
		}
	}
	clean := r.Text(text)
	if clean == text {
		return nil, false
	}
	replaced, err := encode(clean)
	return replaced, err == nil
}

// stringEnd gives the index after the closing quote of the JSON string that
// starts at start.
func stringEnd(valid []byte, start int) int {
	for i := start + 1; i < len(valid); i++ {
		switch valid[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(valid)
}
