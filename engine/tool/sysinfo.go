package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	system "github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"sluice/engine/plan"
	"sluice/policy"
)

// systemTimeout is the declared timeout of the tools that read system facts.
const systemTimeout = 10 * time.Second

// noInput is the schema of a tool without parameters.
const noInput = `{"type": "object", "additionalProperties": false, "properties": {}}`

const sysinfoOutput = `{
	"type": "object", "additionalProperties": false,
	"required": ["hostname", "os", "platform", "platform_version", "kernel_version", "arch", "uptime_seconds", "boot_time",
		"cpu_count", "cpu_model", "load_1", "load_5", "load_15", "memory", "swap"],
	"properties": {
		"hostname": {"type": "string", "description": "Name of this machine."},
		"os": {"type": "string", "description": "Operating system, such as linux."},
		"platform": {"type": "string", "description": "Distribution, such as debian; empty if unknown."},
		"platform_version": {"type": "string", "description": "Version of the distribution; empty if unknown."},
		"kernel_version": {"type": "string", "description": "Version of the kernel."},
		"arch": {"type": "string", "description": "Processor architecture, such as x86_64."},
		"uptime_seconds": {"type": "integer", "description": "Seconds since the machine was started."},
		"boot_time": {"type": "string", "description": "When the machine was started, RFC 3339, UTC."},
		"cpu_count": {"type": "integer", "description": "Logical processors."},
		"cpu_model": {"type": "string", "description": "Model of the processor; empty if unknown."},
		"load_1": {"type": ["number", "null"], "description": "Load average of one minute; null where there is none."},
		"load_5": {"type": ["number", "null"], "description": "Load average of five minutes."},
		"load_15": {"type": ["number", "null"], "description": "Load average of fifteen minutes."},
		"memory": {"type": "object", "additionalProperties": false, "description": "Main memory.",
			"required": ["total_bytes", "used_bytes", "free_bytes", "available_bytes", "used_percent"],
			"properties": {
				"total_bytes": {"type": "integer", "description": "All of it."},
				"used_bytes": {"type": "integer", "description": "In use and not reclaimable."},
				"free_bytes": {"type": "integer", "description": "Used for nothing, not even caches."},
				"available_bytes": {"type": "integer", "description": "What a program could still get."},
				"used_percent": {"type": "number", "description": "Share in use."}
			}},
		"swap": {"type": "object", "additionalProperties": false, "description": "Swap space; all 0 without any.",
			"required": ["total_bytes", "used_bytes", "free_bytes"],
			"properties": {
				"total_bytes": {"type": "integer", "description": "All of it."},
				"used_bytes": {"type": "integer", "description": "In use."},
				"free_bytes": {"type": "integer", "description": "Not in use."}
			}}
	}}`

func sysinfo(*host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "sysinfo", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Show this machine: kernel version, platform, uptime, processors, load, memory and swap.",
			Input:   json.RawMessage(noInput), Output: json.RawMessage(sysinfoOutput),
			Trusted: []string{
				"arch", "boot_time", "cpu_count", "kernel_version", "load_1", "load_15", "load_5", "memory.available_bytes",
				"memory.free_bytes", "memory.total_bytes", "memory.used_bytes", "memory.used_percent", "os",
				"swap.free_bytes", "swap.total_bytes", "swap.used_bytes", "uptime_seconds",
			},
			Timeout: systemTimeout,
			Bytes:   InlineBytesMax,
		},
		run: readSystem,
	}
}

type memoryUse struct {
	TotalBytes     uint64  `json:"total_bytes"`
	UsedBytes      uint64  `json:"used_bytes"`
	FreeBytes      uint64  `json:"free_bytes"`
	AvailableBytes uint64  `json:"available_bytes"`
	UsedPercent    float64 `json:"used_percent"`
}

type swapUse struct {
	TotalBytes uint64 `json:"total_bytes"`
	UsedBytes  uint64 `json:"used_bytes"`
	FreeBytes  uint64 `json:"free_bytes"`
}

type systemFacts struct {
	Hostname        string    `json:"hostname"`
	OS              string    `json:"os"`
	Platform        string    `json:"platform"`
	PlatformVersion string    `json:"platform_version"`
	KernelVersion   string    `json:"kernel_version"`
	Arch            string    `json:"arch"`
	UptimeSeconds   uint64    `json:"uptime_seconds"`
	BootTime        string    `json:"boot_time"`
	CPUCount        int       `json:"cpu_count"`
	CPUModel        string    `json:"cpu_model"`
	Load1           *float64  `json:"load_1"`
	Load5           *float64  `json:"load_5"`
	Load15          *float64  `json:"load_15"`
	Memory          memoryUse `json:"memory"`
	Swap            swapUse   `json:"swap"`
}

func readSystem(ctx context.Context, r Request) ([]byte, error) {
	if err := decode(r.Params, &struct{}{}); err != nil {
		return nil, err
	}
	facts := systemFacts{OS: runtime.GOOS, CPUCount: runtime.NumCPU()}
	for _, read := range []func(context.Context) error{facts.readMachine, facts.readMemory} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	facts.readOptional(ctx)
	return encode(facts)
}

// readMachine reads what every supported system has.
func (f *systemFacts) readMachine(ctx context.Context) error {
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	kernel, err := system.KernelVersionWithContext(ctx)
	if err != nil {
		return err
	}
	arch, err := system.KernelArch()
	if err != nil {
		return err
	}
	uptime, err := system.UptimeWithContext(ctx)
	if err != nil {
		return err
	}
	boot, err := system.BootTimeWithContext(ctx)
	if err != nil {
		return err
	}
	f.Hostname, f.KernelVersion, f.Arch = hostname, kernel, arch
	f.UptimeSeconds, f.BootTime = bounded(uptime), stamp(time.Unix(int64(bounded(boot)), 0))
	return nil
}

func (f *systemFacts) readMemory(ctx context.Context) error {
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return err
	}
	f.Memory = memoryUse{
		TotalBytes: bounded(memory.Total), UsedBytes: bounded(memory.Used), FreeBytes: bounded(memory.Free),
		AvailableBytes: bounded(memory.Available), UsedPercent: hundredths(memory.UsedPercent),
	}
	return nil
}

// readOptional reads what a container or a stranger system may lack: an unknown
// value is a normal output.
func (f *systemFacts) readOptional(ctx context.Context) {
	f.Platform, f.PlatformVersion = release("/etc/os-release", "/usr/lib/os-release")
	if count, err := cpu.CountsWithContext(ctx, true); err == nil && count > 0 {
		f.CPUCount = count
	}
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		f.CPUModel = infos[0].ModelName
	}
	if average, err := load.AvgWithContext(ctx); err == nil {
		one, five, fifteen := hundredths(average.Load1), hundredths(average.Load5), hundredths(average.Load15)
		f.Load1, f.Load5, f.Load15 = &one, &five, &fifteen
	}
	if swap, err := mem.SwapMemoryWithContext(ctx); err == nil {
		f.Swap = swapUse{TotalBytes: bounded(swap.Total), UsedBytes: bounded(swap.Used), FreeBytes: bounded(swap.Free)}
	}
}

// releaseBytesMax bounds what is read of a file that names the distribution.
const releaseBytesMax = 64 << 10

// release reads name and version of the distribution from the first of the files
// that exists. It is read here because others may start a program to find out.
func release(paths ...string) (platform, version string) {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		defer file.Close()
		lines := bufio.NewScanner(io.LimitReader(file, releaseBytesMax))
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), "=")
			value = strings.Trim(value, `"'`)
			switch name {
			case "ID":
				platform = value
			case "VERSION_ID":
				version = value
			}
		}
		return platform, version
	}
	return "", ""
}
