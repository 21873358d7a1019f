package tool

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFileDelete_SaysWhatIsGone(t *testing.T) {
	w := newWorld(t, nil)
	w.write("notes.txt", "abc")
	w.write("kept.txt", "kept")
	var got fileDeleted
	w.want("file.delete", `{"path":"notes.txt"}`, &got)
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc, FIPS 180-2
	if got.SHA256 == nil || *got.SHA256 != sum || got.SizeBytes != 3 || got.Path != "notes.txt" || !got.Deleted {
		t.Errorf("got %+v, want 3 bytes with hash %s", got, sum)
	}
	if names := entries(t, w.dir); names != "kept.txt" {
		t.Errorf("got %s left, want kept.txt", names)
	}
	w.refuse("file.delete", `{"path":"notes.txt"}`, NotFound)
}

func TestFileDelete_NeverADirectory(t *testing.T) {
	w := newWorld(t, nil)
	if err := os.Mkdir(filepath.Join(w.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.refuse("file.delete", `{"path":"empty"}`, Invalid)
	w.refuse("file.delete", `{"path":"empty/.."}`, Invalid)
	if names := entries(t, w.dir); names != "empty" {
		t.Errorf("got %s, want empty", names)
	}
}

// P5: a delete that was stopped while it was still looking is provably not done.
func TestP5_ADeleteStoppedBeforeItsEffectIsCertain(t *testing.T) {
	w := newWorld(t, nil)
	w.write("big", string(make([]byte, 1<<20)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	call := w.call("file.delete", `{"path":"big"}`)
	_, err := w.registry.host.deleteFile(ctx, Request{Params: []byte(`{"path":"big"}`)})
	out := w.executor.failed(ctx, err, call.Tool.Effect)
	if out.Class != Stopped || !out.BeforeSend {
		t.Errorf("got %q, before send %v; want stopped before send", out.Class, out.BeforeSend)
	}
	if got := w.read("big"); len(got) != 1<<20 {
		t.Errorf("got %d bytes left, want the file", len(got))
	}
}

// The file that is removed is the one that was looked at.
func TestFileDelete_AChangedFileIsNotRemoved(t *testing.T) {
	w := newWorld(t, nil)
	w.write("f", "first")
	info, sum, err := w.registry.host.fingerprint(context.Background(), "f")
	if err != nil || sum == nil {
		t.Fatalf("got %v, %v", sum, err)
	}
	w.write("f", "other")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, "f"), later, later); err != nil {
		t.Fatal(err)
	}
	if err := w.registry.host.unchanged("f", info); err == nil {
		t.Error("a file written since: got no conflict")
	}
	w.write("g", "other")
	if err := os.Rename(filepath.Join(w.dir, "g"), filepath.Join(w.dir, "f")); err != nil {
		t.Fatal(err)
	}
	if err := w.registry.host.unchanged("f", info); err == nil {
		t.Error("another file in its place: got no conflict")
	}
}
