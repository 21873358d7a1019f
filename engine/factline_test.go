package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// factLine shows a fact on one line: what a reader of a transcript needs, with
// times from the start of the run and without hashes.
func factLine(f *Fact) string {
	line := fmt.Sprintf("%d %s", f.Seq, f.Kind)
	if f.Node != "" {
		line += fmt.Sprintf(" %s#%d", f.Node, f.Attempt)
	}
	if f.Actor != "system" {
		line += " by " + f.Actor
	}
	if f.Cause != f.Seq {
		line += fmt.Sprintf(" because %d", f.Cause)
	}
	var data map[string]any
	if err := json.Unmarshal(f.Data, &data); err != nil {
		return line + " UNREADABLE " + err.Error()
	}
	return line + show(data, "")
}

var hashes = regexp.MustCompile("sha256:[0-9a-f]{64}")

// hidden are keys that say nothing new to a reader, or differ by version.
func hidden() []string {
	return []string{"hash", "args_hash", "policy", "tools", "plan", "engine_version", "profile", "scopes", "id", "observation", "observations",
		"timeout_ms", "impact_name", "labels", "source", "self", "requester", "key", "declared_impact", "external", "held", "findings", "kind", "models", "usage"}
}

func show(data map[string]any, prefix string) string {
	keys := make([]string, 0, len(data))
	for k := range data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		if slices.Contains(hidden(), k) {
			continue
		}
		switch v := data[k].(type) {
		case map[string]any:
			b.WriteString(part(k, v, prefix))
		case nil:
		case float64:
			b.WriteString(" " + prefix + k + "=" + number(k, v))
		default:
			if text := compact(v); text != "" && text != "[]" && text != "false" {
				b.WriteString(" " + prefix + k + "=" + text)
			}
		}
	}
	return b.String()
}

// part shows an object inside a fact: an allow has nothing to tell, a
// reservation is calls/effects, of a call the tool and its parameters.
func part(k string, v map[string]any, prefix string) string {
	switch {
	case k == "decision" && v["decision"] == "allow":
		return " allow"
	case k == "decision":
		return show(v, "")
	case k == "reserve" || k == "settle":
		return fmt.Sprintf(" %s=%v/%v", k, v["tool_calls"], v["side_effects"]) + spent(v)
	case k == "call":
		params := v["params"].([]any)
		list := make([]string, len(params))
		for i, p := range params {
			param := p.(map[string]any)
			list[i] = fmt.Sprintf("%v=%v%v", param["name"], compact(param["value"]), param["labels"])
		}
		return fmt.Sprintf(" %v(%s)", v["tool"], strings.Join(list, ", "))
	}
	return show(v, prefix+k+".")
}

// spent are the dimensions of models and retries, where there are any.
func spent(v map[string]any) string {
	line := ""
	for _, k := range []string{"input_tokens", "output_tokens", "cost_micro_usd", "model_calls", "retries", "reflections"} {
		if n, ok := v[k]; ok {
			line += fmt.Sprintf(" %s=%v", k, n)
		}
	}
	return line
}

func number(k string, v float64) string {
	switch k {
	case "retry_at", "expires_at", "started_at", "ended_at":
		if v > 0 {
			return (time.Duration(int64(v)-startUS) * time.Microsecond).String()
		}
	}
	return fmt.Sprint(int64(v))
}

func compact(v any) string {
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, x := range list {
			if m, ok := x.(map[string]any); ok {
				parts[i] = strings.TrimSpace(show(m, ""))
			} else {
				parts[i] = compact(x)
			}
		}
		return "[" + strings.Join(parts, "; ") + "]"
	}
	text := hashes.ReplaceAllString(fmt.Sprint(v), "sha256:…")
	if strings.ContainsAny(text, " \n") {
		return fmt.Sprintf("%q", text)
	}
	return text
}
