package gatecheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sluice/policy"
)

// paramsOf gives the parameters sorted by name with their labels. A parameter
// without labels counts as untrusted: the line does not say where it came from.
func paramsOf(fields members) ([]policy.Param, error) {
	values := members{}
	if raw, ok := fields["params"]; ok {
		if err := json.Unmarshal(raw, &values); err != nil || values == nil {
			return nil, errors.New("the params are not an object")
		}
	}
	labels, err := labelsOf(fields, values)
	if err != nil {
		return nil, err
	}
	params := make([]policy.Param, 0, len(values))
	for name, value := range values {
		param := policy.Param{Name: name, Value: value, Labels: labels[name], Source: "line:/params/" + policy.Escape(name)}
		if len(param.Labels) == 0 {
			param.Labels = []policy.Label{policy.LabelUntrusted}
		}
		params = append(params, param)
	}
	sort.Slice(params, func(i, j int) bool { return params[i].Name < params[j].Name })
	return params, nil
}

// labelsOf collects labels by parameter. A pointer into a parameter labels the
// whole of it, since the gate sees whole parameters.
func labelsOf(fields, values members) (map[string][]policy.Label, error) {
	raw, ok := fields["labels"]
	if !ok {
		return nil, nil
	}
	var given map[string][]policy.Label
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return nil, errors.New("the labels are not an object of lists of texts")
	}
	byParam := map[string][]policy.Label{}
	pointers := make([]string, 0, len(given))
	for pointer := range given {
		pointers = append(pointers, pointer)
	}
	sort.Strings(pointers) // the first mistake is the same on every run
	for _, pointer := range pointers {
		name, err := pointedParam(pointer, values)
		if err != nil {
			return nil, err
		}
		labels := given[pointer]
		if labels == nil {
			return nil, fmt.Errorf("the labels of %s are not a list", shown(pointer))
		}
		for _, label := range labels {
			if !isLabel(label) {
				return nil, fmt.Errorf("the label %s is not known; use user, constant, trusted or untrusted", shown(string(label)))
			}
		}
		byParam[name] = append(byParam[name], labels...)
	}
	for name, labels := range byParam {
		slices.Sort(labels)
		byParam[name] = slices.Compact(labels)
	}
	return byParam, nil
}

func isLabel(label policy.Label) bool {
	switch label {
	case policy.LabelUser, policy.LabelConstant, policy.LabelTrusted, policy.LabelUntrusted:
		return true
	}
	return false
}

// pointedParam is the parameter that an RFC 6901 pointer leads into. A pointer
// to nothing is refused: a mistyped one would drop its labels in silence.
func pointedParam(pointer string, values members) (string, error) {
	missing := fmt.Errorf("the labels point to %s, which is not in the params", shown(pointer))
	if !strings.HasPrefix(pointer, "/") {
		return "", missing
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(token), "~") {
			return "", missing
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	value, ok := values[tokens[0]]
	for _, token := range tokens[1:] {
		if !ok {
			break
		}
		value, ok = childOf(value, token)
	}
	if !ok {
		return "", missing
	}
	return tokens[0], nil
}

// childOf is one step of a pointer: a key of an object or an index of a list.
func childOf(value []byte, token string) (json.RawMessage, bool) {
	var object members
	if json.Unmarshal(value, &object) == nil {
		child, ok := object[token]
		return child, ok
	}
	var list []json.RawMessage
	index, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(index) != token || json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	if index < 0 || index >= len(list) {
		return nil, false
	}
	return list[index], true
}
