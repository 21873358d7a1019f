package gatecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

type brokenReader struct{ sent bool }

func (r *brokenReader) Read(b []byte) (int, error) {
	if r.sent {
		return 0, errors.New("cable pulled")
	}
	r.sent = true
	return copy(b, `{"id":"1","tool":"sysinfo"}`+"\n"), nil
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestP37_FailuresOfInputAndOutputAreErrors(t *testing.T) {
	var out bytes.Buffer
	if _, err := Run(&brokenReader{}, &out, options(t)); err == nil || !strings.Contains(err.Error(), "cable pulled") {
		t.Errorf("broken input: got error %v, want the reader's", err)
	}
	if !strings.Contains(out.String(), `"decision":"allow"`) {
		t.Errorf("broken input: got %q, want the answer to the line before", out.String())
	}
	if _, err := Run(strings.NewReader(`{"tool":"sysinfo"}`), brokenWriter{}, options(t)); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("broken output: got error %v, want the writer's", err)
	}
	if _, err := Run(strings.NewReader(""), io.Discard, Options{}); err == nil {
		t.Error("no options: got no error, want one")
	}
}

func TestP37_AnswersComeLineByLine(t *testing.T) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := Run(inRead, outWrite, options(t))
		done <- err
	}()
	answers := json.NewDecoder(outRead)
	for range 3 {
		if _, err := io.WriteString(inWrite, `{"tool":"sysinfo"}`+"\n"); err != nil {
			t.Fatalf("write line: %v", err)
		}
		var a answerLine
		if err := answers.Decode(&a); err != nil || a.Decision != "allow" {
			t.Fatalf("got %v and %v before the next line was sent, want an allow", a, err)
		}
	}
	if err := inWrite.Close(); err != nil {
		t.Fatalf("close input: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte(`{"id":"1","tool":"shell","params":{"command":"rm x"},"labels":{"/command":["user"]}}`))
	f.Add([]byte("{\"id\":\xff}\n[[["))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		bad, err := Run(bytes.NewReader(in), &out, options(t))
		if err != nil {
			t.Fatalf("Run: %v", err)
		}
		decoder := json.NewDecoder(&out)
		inputs := 0
		for decoder.More() {
			var a answerLine
			if err := decoder.Decode(&a); err != nil {
				t.Fatalf("output is not JSON: %v", err)
			}
			if a.Stage != nil && *a.Stage == "input" {
				inputs++
			}
		}
		if inputs != bad {
			t.Fatalf("got %d answers at stage input, want %d", inputs, bad)
		}
	})
}
