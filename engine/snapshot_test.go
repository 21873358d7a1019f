package engine

import (
	"bytes"
	"testing"
)

// snapshotProblem holds a snapshot against the state it was taken of (R60,
// P32): it restores to the same place, says so in the same bytes, and one that
// is cut off is refused. It gives the restored state.
func snapshotProblem(s *State) (*State, string) {
	data := s.Snapshot()
	back, err := Restore(data)
	if err != nil {
		return nil, "restore: " + err.Error()
	}
	if a, b := digest(s), digest(back); a != b {
		return nil, "a restored state stands elsewhere: " + firstDifference(a, b)
	}
	if !bytes.Equal(data, back.Snapshot()) {
		return nil, "the snapshot of a restored state has other bytes"
	}
	if _, err := Restore(data[:len(data)-1]); err == nil {
		return nil, "a snapshot that is cut off was restored"
	}
	return back, ""
}

func TestR60_SnapshotOfAnotherFormIsRefused(t *testing.T) {
	data := New(Env{}).Snapshot()
	if _, err := Restore(data); err != nil {
		t.Fatalf("got %v for the empty state, want none", err)
	}
	other := append([]byte{2 * (SnapshotVersion + 1)}, data[1:]...)
	for name, bad := range map[string][]byte{"other version": other, "empty": nil, "tail": append(bytes.Clone(data), 0)} {
		if _, err := Restore(bad); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
