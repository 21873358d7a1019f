package handlers

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"sluice/policy"
	"sluice/policy/document"
)

// Operations that a table of the policy page can ask for, each with a pointer:
// "set:/intents/audit".
const (
	opSet    = "set"
	opRename = "key"
	opRemove = "remove"
	opInsert = "add"
)

var errEmptyName = errors.New("write a name first")

// applyOp changes a text as a table asks.
func applyOp(text, op, value string) (string, error) {
	verb, pointer, _ := strings.Cut(op, ":")
	value = strings.TrimSpace(value)
	var out []byte
	var err error
	switch verb {
	case opSet:
		out, err = setCell([]byte(text), pointer, value)
	case opRename:
		if value == "" {
			return text, errEmptyName
		}
		out, err = document.Rename([]byte(text), pointer, value)
	case opRemove:
		out, err = document.Remove([]byte(text), pointer)
	case opInsert:
		out, err = addRow([]byte(text), pointer, value)
	default:
		return text, document.ErrNoPlace
	}
	if err != nil {
		return text, err
	}
	return string(out), nil
}

// setCell writes one value as its place wants it; nothing where nothing has to
// be removes the key.
func setCell(text []byte, pointer, value string) ([]byte, error) {
	v := cellValue(pointer, value)
	if v != nil {
		return document.Set(text, pointer, v)
	}
	out, err := document.Remove(text, pointer)
	if errors.Is(err, document.ErrNoPlace) {
		return text, nil
	}
	return out, err
}

// cellValue reads what was typed; nil is for a key that is to go.
func cellValue(pointer, value string) any {
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	switch {
	case value == "" && name == "tools" && strings.HasPrefix(pointer, "/scopes/"):
		return []string{}
	case value == "":
		return nil
	case strings.HasPrefix(pointer, "/intents/"):
		return rankValue(value)
	}
	switch name {
	case "tools", "roles":
		return listValue(value)
	case "caps":
		return capsValue(value)
	case "impact", "impact_at_least", "quorum", "expires_s", "timeout_s":
		return rankValue(value)
	case "external":
		return value == "yes" || value == "true"
	}
	return value
}

// rankValue is a number where it is one: what is neither is left for the check
// to name.
func rankValue(value string) any {
	if n, err := strconv.Atoi(value); err == nil {
		return n
	}
	return value
}

func listValue(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// capsValue reads "shell: operate, file.*: 50".
func capsValue(value string) []document.Field {
	fields := []document.Field{}
	for _, part := range strings.Split(value, ",") {
		glob, rank, _ := strings.Cut(part, ":")
		if glob = strings.TrimSpace(glob); glob != "" {
			fields = append(fields, document.Field{Key: glob, Value: rankValue(strings.TrimSpace(rank))})
		}
	}
	return fields
}

// addRow adds an entry that means something from the start.
func addRow(text []byte, pointer, value string) ([]byte, error) {
	tables, bad := document.TablesOf(text)
	if bad != nil {
		return nil, document.ErrNotYAML
	}
	when := document.Field{Key: "when", Value: []document.Field{{Key: "impact_at_least", Value: policy.Override.Name()}}}
	switch pointer {
	case "/approvals/rules":
		return document.Set(text, pointer+"/-", []document.Field{{Key: "id", Value: freeID("A", tables)}, when,
			{Key: "per", Value: "call"}, {Key: "quorum", Value: 1}, {Key: "roles", Value: []string{"approver"}}})
	case "/clearance":
		return document.Set(text, pointer+"/-", []document.Field{{Key: "id", Value: freeID("C", tables)}, when, {Key: "url", Value: "https://"}})
	}
	if value == "" {
		return nil, errEmptyName
	}
	entry := pointer + "/" + policy.Escape(value)
	switch pointer {
	case "/kill_switches":
		return document.Set(text, pointer+"/-", value)
	case "/scopes":
		return addEntry(text, entry+"/tools", tables.Scopes, []string{})
	case "/tools":
		return addEntry(text, entry+"/impact", tables.Tools, policy.Override.Name())
	case "/intents":
		return addIntent(text, entry, tables.Intents)
	}
	return nil, document.ErrNoPlace
}

func addEntry(text []byte, pointer string, rows []document.Row, value any) ([]byte, error) {
	isTaken := func(r document.Row) bool { return strings.HasPrefix(pointer, r.Pointer+"/") }
	if slices.ContainsFunc(rows, isTaken) {
		return nil, document.ErrKeyTaken
	}
	return document.Set(text, pointer, value)
}

// addIntent gives a new intent a rank that no other has; a document that states
// no intents gets the three that always are.
func addIntent(text []byte, pointer string, rows []document.Row) ([]byte, error) {
	var err error
	if len(rows) == 0 {
		for _, rank := range []policy.Rank{policy.Observe, policy.Operate, policy.Override} {
			if text, err = document.Set(text, "/intents/"+rank.Name(), int(rank)); err != nil {
				return nil, err
			}
		}
	}
	taken := map[string]bool{}
	for _, r := range rows {
		if r.Pointer == pointer {
			return nil, document.ErrKeyTaken
		}
		taken[r.Cells["rank"]] = true
	}
	rank := 50
	for taken[strconv.Itoa(rank)] {
		rank++
	}
	return document.Set(text, pointer, rank)
}

// freeID is the first of A1, A2 … that no rule has.
func freeID(letter string, t document.Tables) string {
	for n := 1; ; n++ {
		id := letter + strconv.Itoa(n)
		isIt := func(r document.Row) bool { return r.Key == id }
		if !slices.ContainsFunc(t.Rules, isIt) && !slices.ContainsFunc(t.Clears, isIt) {
			return id
		}
	}
}
