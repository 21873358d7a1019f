package fake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// demo maps words of a goal to steps with the tools that ship: enough to try
// Sluice with a model that is none.
var demo = []struct {
	words []string
	step  string
}{
	{[]string{"disk"}, `{"id":"disk_usage","tool":"disk_usage","params":{}}`},
	{[]string{"port", "network", "interface"}, `{"id":"open_ports","tool":"net_info","params":{}}`},
	{[]string{"repo", "git"}, `{"id":"repositories","tool":"git.find","params":{}}`},
	{[]string{"uncommitted", "dirty", "status of"},
		`{"id":"git_state","tool":"git.status","params":{},"param_refs":{"paths":{"step":"repositories","field":"paths"}}}`},
	{[]string{"kernel", "system", "uptime", "memory", "this machine"}, `{"id":"system","tool":"sysinfo","params":{}}`},
	{[]string{"process"}, `{"id":"processes","tool":"process_list","params":{}}`},
	{[]string{"environment", "secret", "variable"}, `{"id":"environment","tool":"env_list","params":{}}`},
	{[]string{"files", "folder", "workspace has", "directory"}, `{"id":"files","tool":"file.list","params":{}}`},
	{[]string{"read notes", "notes.txt say", "show notes"}, `{"id":"notes","tool":"file.read","params":{"path":"notes.txt"}}`},
	{[]string{"delete notes", "remove notes"}, `{"id":"delete_notes","tool":"file.delete","params":{"path":"notes.txt"}}`},
}

const demoUnknown = "I am a scripted model and know only some goals. Try: check disk usage, list open ports and show the kernel version."

// demoPlan plans the goals of the README with the tools the prompt names.
func demoPlan(prompt string) string {
	goal := goalOf(prompt)
	lower := strings.ToLower(goal)
	var steps []string
	for _, d := range demo {
		if slices.ContainsFunc(d.words, func(w string) bool { return strings.Contains(lower, w) }) && usable(d.step, prompt, steps) {
			steps = append(steps, d.step)
		}
	}
	if len(steps) == 0 || strings.Contains(prompt, "<steps_done>") {
		return marshal(map[string]any{"answer": demoUnknown, "plan": nil})
	}
	plan := fmt.Sprintf(`{"format":1,"goal":%s,"steps":[%s]}`, text(goal), strings.Join(steps, ","))
	return marshal(map[string]any{"answer": nil, "plan": json.RawMessage(plan)})
}

// usable says whether the prompt lists the step's tool and the steps before it
// hold what it refers to.
func usable(step, prompt string, before []string) bool {
	var s struct {
		Tool string                           `json:"tool"`
		Refs map[string]struct{ Step string } `json:"param_refs"`
	}
	if json.Unmarshal([]byte(step), &s) != nil || !strings.Contains(prompt, "\n"+s.Tool+"(") {
		return false
	}
	for _, ref := range s.Refs {
		if !strings.Contains(strings.Join(before, ""), `"id":"`+ref.Step+`"`) {
			return false
		}
	}
	return true
}

// goalOf reads the goal out of a prompt.
func goalOf(prompt string) string {
	var goal string
	if json.Unmarshal([]byte(between(prompt, "<goal>", "</goal>")), &goal) != nil {
		return ""
	}
	return goal
}

func between(s, from, to string) string {
	_, rest, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	inner, _, _ := strings.Cut(rest, to)
	return strings.TrimSpace(inner)
}

// conclusion says of each record in the prompt what became of its step, citing
// what was observed.
func conclusion(prompt string) (string, []map[string]any) {
	claims := []map[string]any{}
	failed := 0
	for line := range strings.Lines(between(prompt, "<data>", "</data>")) {
		var r struct {
			Observation string `json:"observation"`
			Found       struct {
				Step   string          `json:"step"`
				Tool   string          `json:"tool"`
				Output json.RawMessage `json:"output"`
			} `json:"found"`
		}
		if json.Unmarshal([]byte(line), &r) != nil || r.Observation == "" {
			failed++
			continue
		}
		claims = append(claims, map[string]any{"text": finding(r.Found.Tool, r.Found.Output), "observations": []string{r.Observation}})
	}
	answer := fmt.Sprintf("%d steps found something; the claims say what.", len(claims))
	if len(claims) == 0 {
		answer = "No step found anything."
	}
	if failed > 0 {
		answer += fmt.Sprintf(" %d did not.", failed)
	}
	return answer, claims
}

// finding reads an output's first plain fields.
func finding(tool string, output json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(output, &fields) != nil {
		return tool + " answered."
	}
	var said []string
	for _, name := range sorted(fields) {
		if value := string(fields[name]); len(value) <= 60 && value[0] != '{' && value[0] != '[' && len(said) < 3 {
			said = append(said, name+" is "+strings.Trim(value, `"`))
		}
	}
	if len(said) == 0 {
		return tool + " answered."
	}
	return tool + ": " + strings.Join(said, ", ") + "."
}

func sorted(fields map[string]json.RawMessage) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func text(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}
