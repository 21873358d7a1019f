package store

import "strings"

// Admin is the stream of everything that is about no single run.
const Admin = "admin"

const (
	runPrefix    = "run/"
	runIDPrefix  = "r_"
	runIDMax     = 64        // bytes
	streamSeqMax = 1<<32 - 1 // P27: seq is the low half of the id
	streamShift  = 32
	integerMax   = 1<<53 - 1 // P27: integers within ±2^53
)

// StreamOf is the stream of a run.
func StreamOf(run string) string { return runPrefix + run }

// RunOf is the run of a stream, "" for admin.
func RunOf(stream string) string {
	run, isRun := strings.CutPrefix(stream, runPrefix)
	if !isRun {
		return ""
	}
	return run
}

func isRunID(run string) bool {
	rest, found := strings.CutPrefix(run, runIDPrefix)
	if !found || rest == "" || len(run) > runIDMax {
		return false
	}
	for _, c := range []byte(rest) {
		isWord := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
		if !isWord {
			return false
		}
	}
	return true
}

func checkStream(stream string) error {
	if stream == Admin {
		return nil
	}
	if run, isRun := strings.CutPrefix(stream, runPrefix); isRun && isRunID(run) {
		return nil
	}
	return invalid("stream %.80q", stream)
}
