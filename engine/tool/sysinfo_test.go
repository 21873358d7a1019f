package tool

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSysinfo_ShowsThisMachine(t *testing.T) {
	w := newWorld(t, nil)
	var got systemFacts
	w.want("sysinfo", `{}`, &got)
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(kernel)); got.KernelVersion != want {
		t.Errorf("kernel: got %q, want %q", got.KernelVersion, want)
	}
	if hostname, _ := os.Hostname(); got.Hostname != hostname || got.OS != runtime.GOOS || got.Arch == "" {
		t.Errorf("got %+v", got)
	}
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if gap := info.Uptime - int64(got.UptimeSeconds); gap < -2 || gap > 5 {
		t.Errorf("uptime: got %d, want about %d", got.UptimeSeconds, info.Uptime)
	}
	boot, err := time.Parse(time.RFC3339, got.BootTime)
	if gap := time.Until(boot.Add(time.Duration(info.Uptime) * time.Second)); err != nil || gap.Abs() > time.Minute {
		t.Errorf("boot time: got %s (%v)", got.BootTime, err)
	}
	memory := got.Memory
	if memory.TotalBytes == 0 || memory.TotalBytes > uint64(info.Totalram)*uint64(info.Unit)*2 || memory.AvailableBytes > memory.TotalBytes || memory.UsedPercent < 0 || memory.UsedPercent > 100 {
		t.Errorf("memory: got %+v", memory)
	}
	if got.CPUCount < 1 {
		t.Errorf("processors: got %d", got.CPUCount)
	}
}

func TestSysinfo_ReadsTheDistribution(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "os-release")
	text := "PRETTY_NAME=\"Some Linux 12\"\nID=some\nVERSION_ID=\"12.1\"\nHOME_URL=x=y\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if platform, version := release(filepath.Join(dir, "gone"), path); platform != "some" || version != "12.1" {
		t.Errorf("got %q %q, want some 12.1", platform, version)
	}
	if platform, version := release(filepath.Join(dir, "gone")); platform != "" || version != "" {
		t.Errorf("without a file: got %q %q, want nothing", platform, version)
	}
}
