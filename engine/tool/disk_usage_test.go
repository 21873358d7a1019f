package tool

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shirou/gopsutil/v4/disk"
)

func TestDiskUsage_RootIsMeasured(t *testing.T) {
	w := newWorld(t, nil)
	var all, one diskReport
	w.want("disk_usage", `{}`, &all)
	w.want("disk_usage", `{"path":"/"}`, &one)
	var stat syscall.Statfs_t
	if err := syscall.Statfs("/", &stat); err != nil {
		t.Fatal(err)
	}
	root := slices.IndexFunc(all.Mounts, func(m diskMount) bool { return m.Path == "/" })
	if root < 0 || len(one.Mounts) != 1 {
		t.Fatalf("got %+v and %+v, want the root in both", all, one)
	}
	if got := all.Mounts[root]; got.TotalBytes != stat.Blocks*uint64(stat.Bsize) || got.UsedPercent < 0 || got.UsedPercent > 100 {
		t.Errorf("root: got %+v, want %d bytes", got, stat.Blocks*uint64(stat.Bsize))
	}
	highest := slices.MaxFunc(all.Mounts, func(a, b diskMount) int { return int(a.UsedPercent*100) - int(b.UsedPercent*100) })
	if all.MaxUsedPercent != highest.UsedPercent || all.Fullest == nil {
		t.Errorf("got max %v at %v, want %v", all.MaxUsedPercent, or(all.Fullest), highest.UsedPercent)
	}
	for _, path := range []string{"relative", "/a\x00b", "/" + strings.Repeat("x", 4096)} {
		w.refuse("disk_usage", `{"path":`+quote(path)+`}`, Invalid)
	}
}

func TestDiskUsage_WhichMountsCount(t *testing.T) {
	partitions := []disk.PartitionStat{
		{Mountpoint: "/", Device: "overlay", Fstype: "overlay"},
		{Mountpoint: "/proc", Device: "proc", Fstype: "proc"},
		{Mountpoint: "/dev/shm", Device: "shm", Fstype: "tmpfs"},
		{Mountpoint: "/usr", Device: "/dev/vdb", Fstype: "ext4"},
		{Mountpoint: "/tmp", Device: "/dev/vdb", Fstype: "ext4"},
		{Mountpoint: "/etc/hostname", Device: "/dev/vdc", Fstype: "ext4"},
	}
	var got []string
	for _, d := range realDisks(partitions) {
		got = append(got, d.Mountpoint+":"+d.Device)
	}
	if strings.Join(got, " ") != "/:overlay /tmp:/dev/vdb" {
		t.Errorf("got %v, want / and one place of /dev/vdb: no pseudo file system, no file", got)
	}
	for path, want := range map[string]string{"/": "/", "/usr": "/usr", "/usr/lib/..": "/usr", "/usrlocal": "/", "/dev/shm/x": "/dev/shm"} {
		if got, err := holdingMount(partitions, path); err != nil || got.Mountpoint != want {
			t.Errorf("%s: got %s, want %s", path, got.Mountpoint, want)
		}
	}
}
