//go:build faultinject

package exec

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// faultPoint kills the process, as kill -9 would, at the point that the
// environment names: SLUICE_KILL=POINT@SEQ, where POINT is "append" (before
// the facts up to SEQ are handed to the log), "commit" (after they are durable,
// before their commands start), or "performed:NODE" (after an effect, before
// its result is an input; SEQ 0).
func faultPoint(point, run string, seq int64) {
	want, at, ok := strings.Cut(os.Getenv("SLUICE_KILL"), "@")
	if !ok || want != point {
		return
	}
	var n int64
	if _, err := fmt.Sscan(at, &n); err != nil || seq < n {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
