package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProcessList_OrderFilterAndLimit(t *testing.T) {
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	w := newWorld(t, nil)
	var got processReport
	w.want("process_list", `{"name":"SLEEP","limit":1000}`, &got)
	found := slices.IndexFunc(got.Processes, func(p processEntry) bool { return int(p.PID) == sleeper.Process.Pid })
	if found < 0 || got.Processes[found].Name != "sleep" || got.Processes[found].MemoryBytes == 0 {
		t.Errorf("got %+v, want process %d", got.Processes, sleeper.Process.Pid)
	}
	w.want("process_list", `{"sort":"memory","limit":3}`, &got)
	if len(got.Processes) > 3 || got.Total < len(got.Processes) || got.Truncated != (got.Total > 3) {
		t.Errorf("got %d of %d, truncated %v", len(got.Processes), got.Total, got.Truncated)
	}
	byMemory := func(a, b processEntry) int { return int(b.MemoryBytes) - int(a.MemoryBytes) }
	if !slices.IsSortedFunc(got.Processes, byMemory) {
		t.Errorf("got %+v, want the biggest first", got.Processes)
	}
	w.want("process_list", `{}`, &got)
	if !slices.IsSortedFunc(got.Processes, func(a, b processEntry) int { return int(b.CPUPercent*100) - int(a.CPUPercent*100) }) {
		t.Errorf("got %+v, want the busiest first", got.Processes)
	}
	for _, params := range []string{`{"limit":0}`, `{"limit":1001}`, `{"sort":"name"}`, `{"name":""}`, `{"name":` + quote(strings.Repeat("x", 257)) + `}`} {
		w.refuse("process_list", params, Invalid)
	}
}

// Arguments may hold secrets: they are not shown, also where a program's name is
// longer than the kernel keeps and is completed from its command line.
func TestP26_ProcessesAreShownWithoutArguments(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	const secret = "600.0271828"
	name := filepath.Join(t.TempDir(), "a-program-with-a-long-name")
	binary, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(name, secret)
	process.Args[0] = name + " --password=" + secret // as a program that sets its own title
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	w := newWorld(t, nil)
	var got processReport
	out := w.want("process_list", `{"name":"a-program","limit":1000}`, &got)
	if len(got.Processes) == 0 || strings.Contains(string(out.Output), secret) || strings.Contains(string(out.Output), "password") {
		t.Errorf("got %s, want the name alone", out.Output)
	}
}
