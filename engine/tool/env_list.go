package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// envVariablesMax bounds the variables reported.
const envVariablesMax = 5000

const envListOutput = `{
	"type": "object", "additionalProperties": false,
	"required": ["variables", "total", "suspect_count", "suspects", "truncated"],
	"properties": {
		"variables": {"type": "array", "description": "The variables by name.", "items": {
			"type": "object", "additionalProperties": false, "required": ["name", "value", "length_bytes", "suspect"],
			"properties": {
				"name": {"type": "string", "description": "Name of the variable."},
				"value": {"type": "string", "description": "Never the value: a mask that states its length."},
				"length_bytes": {"type": "integer", "description": "Length of the value."},
				"suspect": {"type": ["string", "null"], "description": "What kind of secret the value looks like; null when like none."}
			}}},
		"total": {"type": "integer", "description": "All variables."},
		"suspect_count": {"type": "integer", "description": "Variables that look like secrets."},
		"suspects": {"type": "array", "description": "The variables that look like secrets.", "items": {
			"type": "object", "additionalProperties": false, "required": ["name", "kind"],
			"properties": {
				"name": {"type": "string", "description": "Name of the variable."},
				"kind": {"type": "string", "description": "Such as aws_key, github_token, private_key, url_with_password, generic_secret."}
			}}},
		"truncated": {"type": "boolean", "description": "True when there are more variables than given."}
	}}`

func envList(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "env_list", Effect: policy.Read, Impact: policy.Observe},
			Summary: "List environment variables with masked values and say which look like leaked secrets.",
			Input:   json.RawMessage(noInput), Output: json.RawMessage(envListOutput),
			Trusted: []string{"suspect_count", "total"},
			Timeout: systemTimeout,
			Bytes:   4 << 20,
		},
		run: h.readEnv,
	}
}

type envVariable struct {
	Name        string  `json:"name"`
	Value       string  `json:"value"`
	LengthBytes int     `json:"length_bytes"`
	Suspect     *string `json:"suspect"`
}

type envSuspect struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type envReport struct {
	Variables    []envVariable `json:"variables"`
	Total        int           `json:"total"`
	SuspectCount int           `json:"suspect_count"`
	Suspects     []envSuspect  `json:"suspects"`
	Truncated    bool          `json:"truncated"`
}

func (h *host) readEnv(_ context.Context, r Request) ([]byte, error) {
	if err := decode(r.Params, &struct{}{}); err != nil {
		return nil, err
	}
	forms := credentials()
	report := envReport{Variables: []envVariable{}, Suspects: []envSuspect{}}
	for _, pair := range h.env() {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" {
			continue
		}
		variable := envVariable{Name: name, Value: masked(len(value)), LengthBytes: len(value)}
		if kind := suspectKind(forms, name, value); kind != "" {
			variable.Suspect = &kind
			report.Suspects = append(report.Suspects, envSuspect{Name: name, Kind: kind})
		}
		report.Variables = append(report.Variables, variable)
	}
	slices.SortFunc(report.Variables, func(a, b envVariable) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(report.Suspects, func(a, b envSuspect) int { return cmp.Compare(a.Name, b.Name) })
	report.Total, report.SuspectCount = len(report.Variables), len(report.Suspects)
	report.Truncated = report.Total > envVariablesMax
	report.Variables = report.Variables[:min(report.Total, envVariablesMax)]
	report.Suspects = report.Suspects[:min(report.SuspectCount, envVariablesMax)]
	return encode(report)
}

// masked stands in for a value; it depends on nothing but its length.
func masked(length int) string {
	if length == 0 {
		return "(empty)"
	}
	return fmt.Sprintf("(hidden, %d bytes)", length)
}
