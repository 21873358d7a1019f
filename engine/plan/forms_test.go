package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// golden compares what was got, as indented JSON, with a file.
func golden(t *testing.T, name string, got any) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(got); err != nil {
		t.Fatalf("encode %s: %v", name, err)
	}
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatalf("write golden: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read golden: %v", err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, &text, want)
	}
}

func input(t *testing.T, name string) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("read input: %v", err)
	}
	return string(doc)
}

func TestP10_IndexFormBecomesForm1(t *testing.T) {
	doc := input(t, "index.json")
	golden(t, "index.golden", mustParse(t, doc))
	mustCompile(t, doc, testEnv(t))
}

func TestP10_NodeFormBecomesForm1(t *testing.T) {
	doc := input(t, "nodes.json")
	golden(t, "nodes.golden", mustParse(t, doc))
	mustCompile(t, doc, testEnv(t))
}

func TestP10_WhatHasNoMappingIsAFinding(t *testing.T) {
	p, findings := Parse([]byte(input(t, "nodes_unmapped.json")))
	if p != nil {
		t.Error("got a plan, want none: nothing is guessed")
	}
	golden(t, "nodes_unmapped.golden", findings)
}

func TestP10_IndexFormFindings(t *testing.T) {
	const two = `{"format":1,"goal":"g","steps":[{"id":"a","tool":"noop"},{"id":"b","tool":"sum",`
	for _, c := range []struct {
		doc  string
		want expect
	}{
		{two + `"depends_on":[2]}]}`, expect{"C10", "b", "/steps/1/depends_on/0"}},
		{two + `"depends_on":["a",-1]}]}`, expect{"C10", "b", "/steps/1/depends_on/1"}},
		{two + `"depends_on":[0.5]}]}`, expect{"C10", "b", "/steps/1/depends_on/0"}},
		{two + `"param_refs":{"x":{"step":7,"field":""}}}]}`, expect{"C10", "b", "/steps/1/param_refs/x/step"}},
		{two + `"guard":{"ref":{"step":99999999999999,"field":""},"op":"exists"}}]}`, expect{"C10", "b", "/steps/1/guard/ref/step"}},
		{two + `"depends_on":[1]}]}`, expect{"C01", "b", "/steps/1/depends_on/0"}},
		{`{"steps":[{"tool":"noop"},{"id":"s0","tool":"sum","depends_on":[0]}]}`, expect{"C17", "s0", "/steps/1/id"}},
	} {
		_, findings := Check([]byte(c.doc), testEnv(t))
		wantFinding(t, findings, c.want)
	}
}

func TestP10_NodeFormPointsIntoTheDocumentAsWritten(t *testing.T) {
	nodes := func(list, edges string) string { return `{"nodes":[` + list + `],"edges":[` + edges + `]}` }
	const ab = `{"id":"a","tool":"noop"},{"id":"b","tool":"sum"}`
	for _, c := range []struct {
		doc  string
		want expect
	}{
		{nodes(ab, `["a","b"],["b","a"]`), expect{"C01", "a", "/edges/1/0"}},
		{nodes(ab, `["a","a"]`), expect{"C01", "a", "/edges/0/0"}},
		{nodes(ab, `["a","b"],["z","b"]`), expect{"C10", "b", "/edges/1/0"}},
		{nodes(ab, `["a","z"]`), expect{"C10", "", "/edges/0/1"}},
		{nodes(ab, `["a"]`), expect{"P08", "", "/edges/0"}},
		{nodes(ab, `["a","b","a"]`), expect{"P08", "", "/edges/0"}},
		{nodes(ab, `{"from":"a"}`), expect{"P08", "", "/edges/0"}},
		{nodes(ab, `[0,1]`), expect{"P08", "", "/edges/0/0"}},
		{nodes(ab+`,{"id":"a","tool":"list","params":{"path":"x"}}`, ``), expect{"C17", "a", "/nodes/2/id"}},
		{nodes(`{"id":"a","tool":"nothing"}`, ``), expect{"C10", "a", "/nodes/0/tool"}},
		{nodes(`{"id":"a","type":"loop","tool":"noop"}`, ``), expect{"P10", "a", "/nodes/0/type"}},
		{nodes(`{"id":"a","type":"act","tool":"noop"}`, ``), expect{"P11", "a", "/nodes/0/type"}},
		{nodes(`{"id":"a","tool":"list","params":{"path":1}}`, ``), expect{"C10", "a", "/nodes/0/params/path"}},
		{nodes(`{"id":"a","tool":"noop","depends_on":["b"]}`, ``), expect{"P08", "a", "/nodes/0/depends_on"}},
		{nodes(`{"tool":"noop"}`, ``), expect{"P08", "", "/nodes/0"}},
		{`{"nodes":[],"steps":[]}`, expect{"P10", "", ""}},
		{`{"format":1,"goal":"g","steps":[],"edges":[["a","b"]]}`, expect{"P10", "", ""}},
	} {
		compiled, findings := Check([]byte(c.doc), testEnv(t))
		if compiled != nil {
			t.Errorf("%s: got compiled, want refused", c.doc)
		}
		wantFinding(t, findings, c.want)
	}
}

// P38: a finding has every member, also where there is nothing to say.
func TestP38_AFindingHasEveryMember(t *testing.T) {
	got, err := json.Marshal([]Finding{{Rule: "C07", Severity: Error, Pointer: "/steps", Message: "m <1>", Fix: "f", Policy: true}})
	want := `[{"rule":"C07","severity":"error","step":"","pointer":"/steps","message":"m \u003c1\u003e","fix":"f","related":[]}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	var back []Finding
	if err := json.Unmarshal(got, &back); err != nil || back[0].Rule != "C07" || back[0].Message != "m <1>" {
		t.Errorf("read back %+v (%v)", back, err)
	}
}
