package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"

	"sluice/engine/plan"
	"sluice/policy"
)

// diskMountsMax bounds the file systems reported.
const diskMountsMax = 500

const diskUsageInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Absolute path: report only the file system it lies on. All disks if absent."}
	}}`

const diskUsageOutput = `{
	"type": "object", "additionalProperties": false,
	"required": ["mounts", "max_used_percent", "fullest", "unreadable"],
	"properties": {
		"mounts": {"type": "array", "description": "File systems on disks, by mount point.", "items": {
			"type": "object", "additionalProperties": false,
			"required": ["path", "device", "type", "total_bytes", "used_bytes", "free_bytes", "used_percent", "inodes_used_percent"],
			"properties": {
				"path": {"type": "string", "description": "Where it is mounted."},
				"device": {"type": "string", "description": "What is mounted."},
				"type": {"type": "string", "description": "File system type, such as ext4."},
				"total_bytes": {"type": "integer", "description": "Size."},
				"used_bytes": {"type": "integer", "description": "In use."},
				"free_bytes": {"type": "integer", "description": "Free for ordinary users."},
				"used_percent": {"type": "number", "description": "Share in use of what ordinary users can use."},
				"inodes_used_percent": {"type": ["number", "null"], "description": "Share of inodes in use; null where they are not counted."}
			}}},
		"max_used_percent": {"type": "number", "description": "The highest used_percent of all mounts."},
		"fullest": {"type": ["string", "null"], "description": "Mount point with the highest used_percent."},
		"unreadable": {"type": "array", "description": "Mount points whose use could not be read.", "items": {"type": "string"}}
	}}`

func diskUsage(*host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "disk_usage", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Show how full the disks and file systems are: size, used, free, percent, inodes.",
			Input:   json.RawMessage(diskUsageInput), Output: json.RawMessage(diskUsageOutput),
			Trusted: []string{"max_used_percent"},
			Timeout: systemTimeout,
			Bytes:   4 << 20,
		},
		run: readDisks,
	}
}

type diskUsageParams struct {
	Path *string `json:"path"`
}

type diskMount struct {
	Path              string   `json:"path"`
	Device            string   `json:"device"`
	Type              string   `json:"type"`
	TotalBytes        uint64   `json:"total_bytes"`
	UsedBytes         uint64   `json:"used_bytes"`
	FreeBytes         uint64   `json:"free_bytes"`
	UsedPercent       float64  `json:"used_percent"`
	InodesUsedPercent *float64 `json:"inodes_used_percent"`
}

type diskReport struct {
	Mounts         []diskMount `json:"mounts"`
	MaxUsedPercent float64     `json:"max_used_percent"`
	Fullest        *string     `json:"fullest"`
	Unreadable     []string    `json:"unreadable"`
}

func readDisks(ctx context.Context, r Request) ([]byte, error) {
	var params diskUsageParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	partitions, err := disk.PartitionsWithContext(ctx, true)
	if err != nil {
		return nil, err
	}
	if params.Path != nil {
		holding, err := holdingMount(partitions, *params.Path)
		if err != nil {
			return nil, err
		}
		return measureDisks(ctx, []disk.PartitionStat{holding})
	}
	return measureDisks(ctx, realDisks(partitions))
}

// holdingMount finds the mount that a path lies on by its name alone: the path
// itself is not looked at, so nothing is learnt about what exists.
func holdingMount(partitions []disk.PartitionStat, path string) (disk.PartitionStat, error) {
	if len(path) > plan.PathBytesMax || strings.ContainsRune(path, 0) || !filepath.IsAbs(path) {
		return disk.PartitionStat{}, failf(Invalid, "path must be absolute and at most %d bytes", plan.PathBytesMax)
	}
	path = filepath.Clean(path)
	holding := disk.PartitionStat{Mountpoint: "/"}
	for _, partition := range partitions { // a later mount covers an earlier one at the same place
		mount := strings.TrimSuffix(partition.Mountpoint, "/") + "/"
		if strings.HasPrefix(path+"/", mount) && len(partition.Mountpoint) >= len(holding.Mountpoint) {
			holding = partition
		}
	}
	return holding, nil
}

// realDisks leaves out what holds no files on a disk. The root is always shown:
// in a container it is an overlay.
func realDisks(partitions []disk.PartitionStat) []disk.PartitionStat {
	byMount := map[string]disk.PartitionStat{"/": {Mountpoint: "/"}}
	for _, partition := range partitions {
		if partition.Mountpoint == "/" || !pseudoFS(partition.Fstype) && isDir(partition.Mountpoint) {
			byMount[partition.Mountpoint] = partition
		}
	}
	disks := make([]disk.PartitionStat, 0, len(byMount))
	for _, partition := range byMount {
		disks = append(disks, partition)
	}
	slices.SortFunc(disks, func(a, b disk.PartitionStat) int { return cmp.Compare(a.Mountpoint, b.Mountpoint) })
	// The same device mounted again (bind mounts) is reported at its first place.
	seen := map[string]bool{}
	disks = slices.DeleteFunc(disks, func(partition disk.PartitionStat) bool {
		again := strings.HasPrefix(partition.Device, "/") && seen[partition.Device]
		seen[partition.Device] = true
		return again
	})
	return disks[:min(len(disks), diskMountsMax)]
}

// pseudoFS says whether a file system type holds no files on a disk.
func pseudoFS(name string) bool {
	switch name {
	case "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devfs", "devpts", "devtmpfs",
		"efivarfs", "fusectl", "fuse.lxcfs", "hugetlbfs", "mqueue", "nsfs", "overlay", "proc", "pstore", "ramfs",
		"rpc_pipefs", "securityfs", "selinuxfs", "squashfs", "sysfs", "tmpfs", "tracefs":
		return true
	}
	return false
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func measureDisks(ctx context.Context, disks []disk.PartitionStat) ([]byte, error) {
	report := diskReport{Mounts: []diskMount{}, Unreadable: []string{}}
	for _, partition := range disks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		usage, err := disk.UsageWithContext(ctx, partition.Mountpoint)
		if err != nil {
			report.Unreadable = append(report.Unreadable, partition.Mountpoint)
			continue
		}
		if usage.Total > 0 {
			report.add(partition, usage)
		}
	}
	return encode(report)
}

func (r *diskReport) add(partition disk.PartitionStat, usage *disk.UsageStat) {
	mount := diskMount{
		Path: partition.Mountpoint, Device: partition.Device, Type: cmp.Or(partition.Fstype, usage.Fstype),
		TotalBytes: bounded(usage.Total), UsedBytes: bounded(usage.Used), FreeBytes: bounded(usage.Free),
		UsedPercent: hundredths(usage.UsedPercent),
	}
	if usage.InodesTotal > 0 {
		percent := hundredths(usage.InodesUsedPercent)
		mount.InodesUsedPercent = &percent
	}
	if r.Fullest == nil || mount.UsedPercent > r.MaxUsedPercent {
		r.Fullest, r.MaxUsedPercent = &mount.Path, mount.UsedPercent
	}
	r.Mounts = append(r.Mounts, mount)
}
