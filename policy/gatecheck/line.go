package gatecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"sluice/policy"
)

// members are the keys of a JSON object with their canonical values. A map, not
// a struct: encoding/json matches struct fields whatever their case.
type members map[string]json.RawMessage

var errNotObject = errors.New("the line is not a JSON object")

// read turns a line into a call. With an error the id is that of the line where
// it could still be read, else null.
func read(line []byte, options *Options) (policy.Call, []byte, error) {
	if err := checkDepth(line); err != nil {
		return policy.Call{}, []byte("null"), err
	}
	canonical, err := options.Canonical(line)
	if err != nil {
		return policy.Call{}, salvageID(line), fmt.Errorf("the line is not usable JSON: %w", err)
	}
	var fields members
	if err := json.Unmarshal(canonical, &fields); err != nil || fields == nil {
		return policy.Call{}, []byte("null"), errNotObject
	}
	id, err := idOf(fields)
	if err != nil {
		return policy.Call{}, id, err
	}
	call, err := callOf(fields, options)
	return call, id, err
}

// checkDepth counts nesting before anything recurses into it.
func checkDepth(line []byte) error {
	depth, isText, isEscaped := 0, false, false
	for _, ch := range line {
		switch {
		case isEscaped:
			isEscaped = false
		case isText:
			isEscaped = ch == '\\'
			isText = ch != '"'
		case ch == '"':
			isText = true
		case ch == '{' || ch == '[':
			depth++
		case ch == '}' || ch == ']':
			depth--
		}
		if depth > DepthMax {
			return fmt.Errorf("the line nests deeper than %d levels", DepthMax)
		}
	}
	return nil
}

// salvageID finds the id of a line that is JSON but not canonical, for example
// because it repeats a key, so that the answer can be matched to it.
func salvageID(line []byte) []byte {
	var fields members
	if err := json.Unmarshal(line, &fields); err != nil {
		return []byte("null")
	}
	id, err := idOf(fields)
	if err != nil {
		return []byte("null")
	}
	return id
}

// idOf is the id as it is sent back: a text or a number, null when absent.
func idOf(fields members) ([]byte, error) {
	raw, ok := fields["id"]
	if !ok || bytes.Equal(raw, []byte("null")) {
		return []byte("null"), nil
	}
	switch first := raw[0]; {
	case first == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return []byte("null"), errors.New("the id is not a text")
		}
		quoted, err := json.Marshal(text)
		return quoted, err
	case first == '-' || first >= '0' && first <= '9':
		return raw, nil
	}
	return []byte("null"), errors.New("the id is neither a text nor a number")
}

func callOf(fields members, options *Options) (policy.Call, error) {
	if err := onlyKnown(fields); err != nil {
		return policy.Call{}, err
	}
	name, err := toolName(fields)
	if err != nil {
		return policy.Call{}, err
	}
	call := policy.Call{Intent: options.Intent, Scopes: options.Scopes}
	if call.Tool, call.Known = options.Tool(name); !call.Known {
		call.Tool = policy.Tool{}
	}
	call.Tool.Name = name
	if raw, ok := fields["intent"]; ok {
		if call.Intent, err = intentOf(raw, options.Policy); err != nil {
			return policy.Call{}, err
		}
	}
	if raw, ok := fields["scopes"]; ok {
		if call.Scopes, err = scopesOf(raw); err != nil {
			return policy.Call{}, err
		}
	}
	call.Params, err = paramsOf(fields)
	return call, err
}

func onlyKnown(fields members) error {
	unknown := []string{}
	for key := range fields {
		switch key {
		case "id", "tool", "params", "intent", "scopes", "labels":
		default:
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return fmt.Errorf("the key %s is not known; use id, tool, params, intent, scopes and labels", shown(unknown[0]))
}

func toolName(fields members) (string, error) {
	raw, ok := fields["tool"]
	if !ok {
		return "", errors.New("the line names no tool")
	}
	var name *string
	if err := json.Unmarshal(raw, &name); err != nil || name == nil {
		return "", errors.New("the tool is not a text")
	}
	if *name == "" || len(*name) > policy.NameBytesMax {
		return "", fmt.Errorf("the name of the tool has %d bytes; use 1 to %d", len(*name), policy.NameBytesMax)
	}
	return *name, nil
}

// intentOf reads an intent given by name or by rank (R45).
func intentOf(raw []byte, p *policy.Policy) (policy.Rank, error) {
	var name string
	if raw[0] == '"' && json.Unmarshal(raw, &name) == nil {
		rank, ok := p.RankOf(name)
		if !ok {
			return 0, fmt.Errorf("the intent %s is not one of the policy's", shown(name))
		}
		return rank, nil
	}
	rank, err := strconv.Atoi(string(raw))
	if err != nil || rank < int(policy.Observe) || rank > int(policy.RankMax) {
		return 0, fmt.Errorf("the intent is neither a name nor a whole number from %d to %d", int(policy.Observe), int(policy.RankMax))
	}
	return policy.Rank(rank), nil
}

func scopesOf(raw []byte) ([]string, error) {
	var names []*string
	if err := json.Unmarshal(raw, &names); err != nil || names == nil {
		return nil, errors.New("the scopes are not a list of texts")
	}
	if len(names) > ScopesMax {
		return nil, fmt.Errorf("there are %d scopes; the limit is %d", len(names), ScopesMax)
	}
	scopes := make([]string, len(names))
	for i, name := range names {
		if name == nil {
			return nil, errors.New("the scopes are not a list of texts")
		}
		scopes[i] = *name
	}
	return scopes, nil
}

// shown quotes a text from outside on one short line.
func shown(text string) string {
	if len(text) > policy.NameBytesMax {
		text = strings.ToValidUTF8(text[:policy.NameBytesMax], "") + "..."
	}
	return strconv.QuoteToASCII(text)
}
