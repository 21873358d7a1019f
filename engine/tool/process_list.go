package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/shirou/gopsutil/v4/process"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of process_list.
const (
	processesDefault  = 50
	processesMax      = 1000
	processScanMax    = 20_000 // processes looked at
	processNameMax    = 256    // bytes of the filter
	commandLengthMark = 15     // what the kernel keeps of a name; see commandName
)

const processListInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"sort": {"enum": ["cpu", "memory", "pid"], "description": "cpu and memory: highest first; pid: lowest first. cpu if absent."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Most processes to give, after sorting; 50 if absent."},
		"name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "Only processes whose name contains this, in any case."}
	}}`

const processListOutput = `{
	"type": "object", "additionalProperties": false, "required": ["processes", "total", "truncated"],
	"properties": {
		"processes": {"type": "array", "description": "The processes in the order asked for.", "items": {
			"type": "object", "additionalProperties": false, "required": ["pid", "name", "user", "cpu_percent", "memory_bytes"],
			"properties": {
				"pid": {"type": "integer", "description": "Process number."},
				"name": {"type": "string", "description": "Name of the program, never its arguments."},
				"user": {"type": ["string", "null"], "description": "Who it runs as; null when unknown."},
				"cpu_percent": {"type": "number", "description": "Share of one processor since the process started."},
				"memory_bytes": {"type": "integer", "description": "Resident memory."}
			}}},
		"total": {"type": "integer", "description": "Processes that match, before the limit."},
		"truncated": {"type": "boolean", "description": "True when there are more processes than given."}
	}}`

func processList(*host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "process_list", Effect: policy.Read, Impact: policy.Observe},
			Summary: "List running processes with owner, CPU and memory, the busiest or biggest first.",
			Input:   json.RawMessage(processListInput), Output: json.RawMessage(processListOutput),
			Timeout: systemTimeout,
			Bytes:   1 << 20,
		},
		run: readProcesses,
	}
}

type processListParams struct {
	Sort  string  `json:"sort"`
	Limit *int64  `json:"limit"`
	Name  *string `json:"name"`
}

type processEntry struct {
	PID         int32   `json:"pid"`
	Name        string  `json:"name"`
	User        *string `json:"user"`
	CPUPercent  float64 `json:"cpu_percent"`
	MemoryBytes uint64  `json:"memory_bytes"`
}

type processReport struct {
	Processes []processEntry `json:"processes"`
	Total     int            `json:"total"`
	Truncated bool           `json:"truncated"`
}

func (p *processListParams) check() error {
	if !slices.Contains([]string{"", "cpu", "memory", "pid"}, p.Sort) {
		return Fail(Invalid, "sort must be cpu, memory or pid")
	}
	if p.Limit != nil && !between(*p.Limit, 1, processesMax) {
		return failf(Invalid, "limit must be 1 to %d", processesMax)
	}
	if p.Name != nil && !between(int64(len(*p.Name)), 1, processNameMax) {
		return failf(Invalid, "name must be 1 to %d bytes", processNameMax)
	}
	return nil
}

func readProcesses(ctx context.Context, r Request) ([]byte, error) {
	var params processListParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if err := params.check(); err != nil {
		return nil, err
	}
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	report := processReport{Processes: []processEntry{}, Truncated: len(pids) > processScanMax}
	for _, pid := range pids[:min(len(pids), processScanMax)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if found, ok := readProcess(ctx, pid); ok && params.wants(found) {
			report.Processes = append(report.Processes, found)
		}
	}
	report.cut(params)
	return encode(report)
}

func (p *processListParams) wants(found processEntry) bool {
	return p.Name == nil || strings.Contains(strings.ToLower(found.Name), strings.ToLower(*p.Name))
}

// readProcess reads one process; false when it ended meanwhile.
func readProcess(ctx context.Context, pid int32) (processEntry, bool) {
	p, err := process.NewProcessWithContext(ctx, pid)
	if err != nil {
		return processEntry{}, false
	}
	name := commandName(ctx, p)
	if name == nil {
		return processEntry{}, false
	}
	found := processEntry{PID: pid, Name: *name}
	if user, err := p.UsernameWithContext(ctx); err == nil {
		found.User = &user
	}
	if share, err := p.CPUPercentWithContext(ctx); err == nil {
		found.CPUPercent = hundredths(share)
	}
	if memory, err := p.MemoryInfoWithContext(ctx); err == nil && memory != nil {
		found.MemoryBytes = bounded(memory.RSS)
	}
	return found, true
}

// commandName gives a process's name without arguments, nil when it is unknown.
// A name longer than the kernel keeps was completed from the command line, where
// a program can have put its arguments, and those may hold secrets.
func commandName(ctx context.Context, p *process.Process) *string {
	name, err := p.NameWithContext(ctx)
	if err != nil {
		return nil
	}
	name = withoutArguments(name)
	return &name
}

func withoutArguments(name string) string {
	if len(name) <= commandLengthMark {
		return name
	}
	if end := strings.IndexFunc(name[commandLengthMark:], unicode.IsSpace); end >= 0 {
		return name[:commandLengthMark+end]
	}
	return name
}

// cut sorts the processes, ties by number, and applies the limit.
func (r *processReport) cut(params processListParams) {
	slices.SortFunc(r.Processes, func(a, b processEntry) int {
		order := 0
		switch params.Sort {
		case "", "cpu":
			order = cmp.Compare(b.CPUPercent, a.CPUPercent)
		case "memory":
			order = cmp.Compare(b.MemoryBytes, a.MemoryBytes)
		}
		return cmp.Or(order, cmp.Compare(a.PID, b.PID))
	})
	limit := processesDefault
	if params.Limit != nil {
		limit = int(*params.Limit)
	}
	r.Total = len(r.Processes)
	r.Truncated = r.Truncated || r.Total > limit
	r.Processes = r.Processes[:min(r.Total, limit)]
}
