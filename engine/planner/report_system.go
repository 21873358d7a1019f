package planner

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// readOutput decodes an output for a writer.
func readOutput(output []byte, into any) bool { return json.Unmarshal(output, into) == nil }

func aboutSystem(output []byte) (string, bool) {
	var o struct {
		Hostname        string
		OS              string
		Platform        string
		PlatformVersion string   `json:"platform_version"`
		Kernel          string   `json:"kernel_version"`
		Arch            string   `json:"arch"`
		Uptime          *float64 `json:"uptime_seconds"`
		CPUs            int      `json:"cpu_count"`
		Load            *float64 `json:"load_1"`
		Memory          struct {
			Total     float64 `json:"total_bytes"`
			Available float64 `json:"available_bytes"`
		}
	}
	if !readOutput(output, &o) || o.Kernel == "" {
		return "", false
	}
	text := fmt.Sprintf("%s kernel %s (%s)", strings.ToUpper(o.OS[:min(1, len(o.OS))])+o.OS[min(1, len(o.OS)):], o.Kernel, o.Arch)
	if o.Hostname != "" {
		text = o.Hostname + ": " + text
	}
	if o.Platform != "" {
		text += ", " + strings.TrimSpace(o.Platform+" "+o.PlatformVersion)
	}
	if o.Uptime != nil {
		text += ", up " + duration(*o.Uptime)
	}
	if o.CPUs > 0 {
		text += fmt.Sprintf(", %s", plural(o.CPUs, "CPU"))
	}
	if o.Load != nil {
		text += fmt.Sprintf(", load %.2f", *o.Load)
	}
	if o.Memory.Total > 0 {
		text += fmt.Sprintf(", %s of %s memory available", size(o.Memory.Available), size(o.Memory.Total))
	}
	return text + ".", true
}

// duration writes seconds in the two largest units that matter.
func duration(seconds float64) string {
	s := int64(seconds)
	days, hours, minutes := s/86400, s%86400/3600, s%3600/60
	switch {
	case days > 0 && hours > 0:
		return plural(int(days), "day") + " " + plural(int(hours), "hour")
	case days > 0:
		return plural(int(days), "day")
	case hours > 0:
		return plural(int(hours), "hour") + " " + plural(int(minutes), "minute")
	case minutes > 0:
		return plural(int(minutes), "minute")
	}
	return plural(int(s), "second")
}

func aboutDisks(output []byte) (string, bool) {
	var o struct {
		Mounts []struct {
			Path string
			Free float64 `json:"free_bytes"`
			Used float64 `json:"used_percent"`
		}
		Max     *float64 `json:"max_used_percent"`
		Fullest *string
	}
	if !readOutput(output, &o) || o.Max == nil {
		return "", false
	}
	if o.Fullest == nil || len(o.Mounts) == 0 {
		return "No file system could be measured.", true
	}
	text := plural(len(o.Mounts), "file system") + "; the fullest is " + *o.Fullest + " at " + percent(*o.Max)
	for _, m := range o.Mounts {
		if m.Path == *o.Fullest {
			text += ", " + size(m.Free) + " free"
		}
	}
	return text + ".", true
}

func aboutNetwork(output []byte) (string, bool) {
	var o struct {
		Ports []struct {
			Port    int
			Process *string
		}
		Interfaces []struct {
			Name      string
			Addresses []string
		}
	}
	if !readOutput(output, &o) || o.Ports == nil {
		return "", false
	}
	var ports, addresses []string
	seen := map[string]bool{}
	for _, p := range o.Ports {
		name := strconv.Itoa(p.Port)
		if p.Process != nil {
			name += " (" + clip(*p.Process) + ")"
		}
		if !seen[name] {
			seen[name] = true
			ports = append(ports, name)
		}
	}
	for _, i := range o.Interfaces {
		addresses = append(addresses, strings.TrimSpace(i.Name+" "+strings.Join(i.Addresses, " ")))
	}
	text := "No listening ports"
	if len(ports) > 0 {
		text = plural(len(ports), "listening port") + ": " + listNames(ports, len(ports))
	}
	if len(addresses) > 0 {
		text += "; " + plural(len(addresses), "network interface") + ": " + listNames(addresses, len(addresses))
	}
	return text + ".", true
}

func aboutProcesses(output []byte) (string, bool) {
	var o struct {
		Processes []struct {
			PID    int
			Name   string
			Memory float64 `json:"memory_bytes"`
			CPU    float64 `json:"cpu_percent"`
		}
		Total *int
	}
	if !readOutput(output, &o) || o.Total == nil {
		return "", false
	}
	if *o.Total == 0 {
		return "No such process is running.", true
	}
	var names []string
	for _, p := range o.Processes[:min(len(o.Processes), namesMax/2)] {
		names = append(names, fmt.Sprintf("%s (%d, %s, CPU %s)", clip(p.Name), p.PID, size(p.Memory), percent(p.CPU)))
	}
	return plural(*o.Total, "process") + "; first: " + strings.Join(names, ", ") + ".", true
}

func aboutEnvironment(output []byte) (string, bool) {
	var o struct {
		Total    *int
		Count    int `json:"suspect_count"`
		Suspects []struct{ Name, Kind string }
	}
	if !readOutput(output, &o) || o.Total == nil {
		return "", false
	}
	variables := plural(*o.Total, "environment variable")
	if o.Count == 0 {
		return "None of " + variables + " looks like a secret.", true
	}
	var names []string
	for _, s := range o.Suspects {
		names = append(names, s.Name+" ("+s.Kind+")")
	}
	verb := "look"
	if o.Count == 1 {
		verb = "looks"
	}
	return fmt.Sprintf("%d of %s %s like secrets: %s.", o.Count, variables, verb, listNames(names, o.Count)), true
}

// aboutValue shows a short value whole; what a long one is made of, the record
// shows.
func aboutValue(output []byte) (string, bool) {
	var o struct{ Value json.RawMessage }
	if !readOutput(output, &o) || o.Value == nil {
		return "", false
	}
	return "Computed " + gist(o.Value) + ".", true
}

func aboutMail(output []byte) (string, bool) {
	var o struct {
		ID       string `json:"message_id"`
		Accepted []string
	}
	if !readOutput(output, &o) || o.ID == "" {
		return "", false
	}
	return "Handed 1 email to the mail server for " + listNames(o.Accepted, len(o.Accepted)) + ".", true
}
