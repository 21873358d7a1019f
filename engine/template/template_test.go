package template

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine/plan"
)

const invoices = `{"format":1,"name":"overdue","title":"Overdue invoices","description":"",
	"match":["mail {to} about invoices older than {days} days"],
	"slots":[
		{"name":"days","type":"integer","description":"","default":30,"min":1,"max":365},
		{"name":"to","type":"string","description":"","pattern":"[^@ ]+@[^@ ]+"},
		{"name":"dry","type":"boolean","description":"","default":false}],
	"plan":{"format":1,"goal":"Mail {to} about {days} days","max_steps":8,"steps":[
		{"id":"read","tool":"file.read","params":{"path":"a.csv","deep":{"list":[1,{"$slot":"days"},"x"]}}},
		{"id":"mail","tool":"mail.send","params":{"to":[{"$slot":"to"}],"dry":{"$slot":"dry"}},"depends_on":["read"],"approval":true,
			"guard":{"ref":{"step":"read","field":"size_bytes"},"op":"ge","value":{"$slot":"days"}}}]}}`

func parsed(t testing.TB, doc string) *Template {
	t.Helper()
	got, found := Parse([]byte(doc))
	if got == nil {
		t.Fatalf("got %+v", found)
	}
	return got
}

func values(t testing.TB, doc string) map[string]json.RawMessage {
	t.Helper()
	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestR102_ValuesFillTheSlots(t *testing.T) {
	p, found := parsed(t, invoices).Instantiate(values(t, `{"to":"a@b.c","days":60}`))
	if p == nil {
		t.Fatal(found)
	}
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":1,"goal":"Mail a@b.c about 60 days","max_steps":8,"steps":[` +
		`{"id":"read","tool":"file.read","params":{"deep":{"list":[1,60,"x"]},"path":"a.csv"}},` +
		`{"id":"mail","tool":"mail.send","params":{"dry":false,"to":["a@b.c"]},"depends_on":["read"],` +
		`"guard":{"ref":{"step":"read","field":"size_bytes"},"op":"ge","value":60},"approval":true}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if l := p.Steps[1].Labels; l["to"] != "user" || p.Steps[0].Labels["path"] != "constant" {
		t.Errorf("got labels %v and %v, want user for what a person gave alone", l, p.Steps[0].Labels)
	}
}

func TestP41_WrongValuesAreNamed(t *testing.T) {
	tmpl := parsed(t, invoices)
	for text, pointer := range map[string]string{
		`{}`:                         "/values/to",
		`{"to":"x"}`:                 "/values/to",
		`{"to":5}`:                   "/values/to",
		`{"to":null}`:                "/values/to",
		`{"to":"a@b","days":"60"}`:   "/values/days",
		`{"to":"a@b","days":1.5}`:    "/values/days",
		`{"to":"a@b","days":0}`:      "/values/days",
		`{"to":"a@b","days":366}`:    "/values/days",
		`{"to":"a@b","other":1}`:     "/values/other",
		`{"to":"a@b","dry":"false"}`: "/values/dry",
		`{"to":"a@b","dry":{"a":1}}`: "/values/dry",
	} {
		p, found := tmpl.Instantiate(values(t, text))
		if p != nil || len(found) == 0 || found[0].Pointer != pointer || found[0].Message == "" || found[0].Fix == "" {
			t.Errorf("%s: got %v %+v, want a problem at %s", text, p, found, pointer)
		}
	}
	if _, found := tmpl.Instantiate(values(t, `{"to":"a@`+strings.Repeat("b", ValueBytesMax)+`"}`)); len(found) == 0 {
		t.Error("a value beyond its limit was taken")
	}
}

// TestR103_ValuesNeverChangeStructure: whatever the values, the plan differs
// from the template only in the values at its slots and in the goal's words.
func TestR103_ValuesNeverChangeStructure(t *testing.T) {
	tmpl := parsed(t, `{"format":1,"name":"any","title":"t","description":"","match":[],
		"slots":[{"name":"a","type":"string","description":""},{"name":"b","type":"number","description":""}],
		"plan":{"format":1,"goal":"g {a} {b} {c}","steps":[
			{"id":"x","tool":"one","params":{"p":{"$slot":"a"},"q":{"in":[{"$slot":"b"},{"k":{"$slot":"a"}}]},"fixed":"{a}"}},
			{"id":"y","tool":"two","params":{"n":1},"param_refs":{"r":{"step":"x","field":"v"}},"guard":{"ref":{"step":"x","field":"v"},"op":"eq","value":{"$slot":"a"}},"approval":true,"depends_on":["x"]}]}}`)
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`{"$slot":"b"}`, `"},"tool":"evil","x":{"`, "{b}", `{"approval":false}`})).
			Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(rt, "a")
		b := rapid.Float64Range(-1e9, 1e9).Draw(rt, "b")
		rawA, _ := marshal(a)
		rawB, _ := json.Marshal(b)
		got, found := tmpl.Instantiate(map[string]json.RawMessage{"a": rawA, "b": rawB})
		if got == nil {
			rt.Fatal(found)
		}
		wantQ := append(append(append([]byte(`{"in":[`), rawB...), `,{"k":`...), rawA...)
		wantQ = append(wantQ, `}]}`...)
		for name, pair := range map[string][2][]byte{"p": {got.Steps[0].Params["p"], rawA}, "q": {got.Steps[0].Params["q"], wantQ},
			"guard": {got.Steps[1].Guard.Value, rawA}} {
			if !sameJSON(pair[0], pair[1]) {
				rt.Fatalf("%s: got %s, want the value %s", name, pair[0], pair[1])
			}
		}
		rest := *got
		rest.Goal, rest.Steps = tmpl.Plan.Goal, append([]plan.Step{}, got.Steps...)
		for i := range rest.Steps {
			rest.Steps[i].Params, rest.Steps[i].Labels = tmpl.Plan.Steps[i].Params, nil
			for name := range tmpl.Plan.Steps[i].Params { // order-free: each is compared
				if _, is := got.Steps[i].Params[name]; !is || len(got.Steps[i].Params) != len(tmpl.Plan.Steps[i].Params) {
					rt.Fatalf("parameters of %s changed", rest.Steps[i].ID)
				}
			}
		}
		rest.Steps[1].Guard = tmpl.Plan.Steps[1].Guard
		if !bytes.Equal(got.Steps[0].Params["fixed"], []byte(`"{a}"`)) || !reflect.DeepEqual(rest, *tmpl.Plan) {
			rt.Fatalf("got %+v, want the template outside its slots", got)
		}
	})
}

func sameJSON(a, b []byte) bool {
	x, errX := plan.Canonical(a)
	y, errY := plan.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// TestR103_ValuesBringNoStructure: whatever is not one plain value is refused at
// its slot, and what only looks like structure stays the text that it is.
func TestR103_ValuesBringNoStructure(t *testing.T) {
	tmpl := parsed(t, strings.Replace(invoices, `,"pattern":"[^@ ]+@[^@ ]+"`, "", 1))
	for _, bad := range []string{`{"$slot":"days"}`, `{"step":"read","field":"content"}`, `["a","b"]`, `[]`, `{}`, `null`, `{"a.b":1}`, `[{"$slot":"to"}]`} {
		for _, slot := range []string{"to", "days", "dry"} {
			p, found := tmpl.Instantiate(values(t, `{"to":"x","`+slot+`":`+bad+`}`))
			if p != nil || found[0].Pointer != "/values/"+slot {
				t.Errorf("%s for %s: got %+v, want it refused there", bad, slot, found)
			}
		}
	}
	for _, text := range []string{`{"$slot":"days"}`, `{{value}}`, `{days}`, `"]},{"id":"evil"`, `\u0024slot`, `a.b\.c`, "\u202eélan\u2028\n", `<script>&`, ``} {
		raw, _ := marshal(text)
		p, found := tmpl.Instantiate(map[string]json.RawMessage{"to": raw})
		if p == nil {
			t.Fatalf("%q: got %+v", text, found)
		}
		var to []string
		if err := json.Unmarshal(p.Steps[1].Params["to"], &to); err != nil || len(to) != 1 || to[0] != text || len(p.Steps) != 2 {
			t.Errorf("%q: got %s, want the text as one address", text, p.Steps[1].Params["to"])
		}
		if want := "Mail " + text + " about 30 days"; p.Goal != want {
			t.Errorf("got goal %q, want %q", p.Goal, want)
		}
	}
}

func TestR103_SlotsStandNowhereElse(t *testing.T) {
	for name, change := range map[string][2]string{
		"id":               {`"id":"read"`, `"id":{"$slot":"days"}`},
		"tool":             {`"tool":"file.read"`, `"tool":{"$slot":"to"}`},
		"approval":         {`"approval":true`, `"approval":{"$slot":"dry"}`},
		"depends_on":       {`"depends_on":["read"]`, `"depends_on":[{"$slot":"to"}]`},
		"contract":         {`"approval":true`, `"approval":true,"contract":{"schema":{"const":{"$slot":"days"}}}`},
		"plan contract":    {`"max_steps":8`, `"max_steps":8,"contract":{"schema":{"const":{"$slot":"days"}}}`},
		"max_steps":        {`"max_steps":8`, `"max_steps":{"$slot":"days"}`},
		"not alone":        {`{"$slot":"dry"}`, `{"$slot":"dry","x":1}`},
		"not declared":     {`{"$slot":"dry"}`, `{"$slot":"nothing"}`},
		"not a name":       {`{"$slot":"dry"}`, `{"$slot":["dry"]}`},
		"unused":           {`"dry":{"$slot":"dry"}`, `"dry":true`},
		"duplicate slot":   {`{"name":"dry"`, `{"name":"days"`},
		"unknown member":   {`"title"`, `"titel"`},
		"bad name":         {`"name":"overdue"`, `"name":"Over due"`},
		"bad type":         {`"type":"boolean"`, `"type":"object"`},
		"bad default":      {`"default":30`, `"default":0`},
		"bad pattern":      {`[^@ ]+@[^@ ]+`, `(`},
		"phrase of a slot": {`mail {to} about invoices older than {days} days`, `{to} {days}`},
		"phrase unknown":   {`mail {to} about`, `mail {whom} about`},
		"format":           {`{"format":1,"name"`, `{"format":2,"name"`},
		"duplicate key":    {`"title":"Overdue invoices"`, `"title":"a","title":"b"`},
	} {
		doc := strings.Replace(invoices, change[0], change[1], 1)
		if doc == invoices {
			t.Fatalf("%s: the case changes nothing", name)
		}
		got, found := Parse([]byte(doc))
		if got != nil || len(found) == 0 || found[0].Message == "" || found[0].Fix == "" {
			t.Errorf("%s: got %v %+v, want it refused", name, got, found)
		}
	}
	if _, found := Parse(bytes.Repeat([]byte(" "), DocumentBytesMax+1)); len(found) != 1 {
		t.Errorf("got %+v for a document beyond its limit", found)
	}
}

func TestR102_MatchReadsSlotsFromWords(t *testing.T) {
	tmpl := parsed(t, invoices)
	p, _ := tmpl.Match(`Please mail "ana@example.org" about  invoices older than 45 days.`)
	if p == nil || string(p.Steps[1].Params["to"]) != `["ana@example.org"]` || string(p.Steps[1].Guard.Value) != "45" {
		t.Fatalf("got %+v, want both slots filled", p)
	}
	for _, goal := range []string{"mail ana about invoices older than 45 days", "mail a@b about invoices older than many days",
		"mail a@b about invoices older than 45 days and delete notes.txt", "do not mail a@b about invoices older than 45 days", ""} {
		if p, _ := tmpl.Match(goal); p != nil {
			t.Errorf("%q: got a plan, want none", goal)
		}
	}
}

func TestR102_DistilledPlanHasSlots(t *testing.T) {
	p, findings := plan.Parse([]byte(`{"format":1,"goal":"Read data/a.txt and wait 30","steps":[
		{"id":"read","tool":"file.read","params":{"path":"data/a.txt","limit":30}},
		{"id":"again","tool":"file.read","params":{"path":"data/a.txt"},"depends_on":["read"],"why":"twice"},
		{"id":"dead","tool":"file.read","params":{"path":"other"}},
		{"id":"last","tool":"compute","params":{"code":"input"},"depends_on":["again","dead"],"join":"any_of"}]}`))
	if p == nil {
		t.Fatal(findings)
	}
	kept := Keep(p, func(id string) bool { return id != "dead" })
	if len(kept.Steps) != 3 || kept.Steps[2].Join != "" || len(kept.Steps[2].DependsOn) != 1 {
		t.Fatalf("got %+v, want the dead step and its edge gone", kept.Steps)
	}
	offered := Candidates(kept, tools(&plan.Tool{Literal: []string{"code"}, Input: json.RawMessage(`{"properties":{
		"path":{"type":"string","minLength":1,"maxLength":40,"description":"File to read, relative to the workspace. More."},
		"limit":{"type":"integer","minimum":1,"maximum":99}}}`)}))
	if len(offered) != 2 || offered[1].Name != "path" || !offered[1].Proposed || !offered[1].InGoal || len(offered[1].Places) != 2 {
		t.Fatalf("got %+v, want the number and the path, which stands twice", offered)
	}
	cutPlan, slots, found := Cut(kept, offered, []Chosen{{Key: offered[1].Key, Name: "file"}, {Key: "/nowhere", Name: "x"}})
	if len(found) != 1 || len(slots) != 1 || string(slots[0].Default) != `"data/a.txt"` {
		t.Fatalf("got %+v and %+v", slots, found)
	}
	if s := slots[0]; s.Description != "File to read, relative to the workspace" || *s.Min != 1 || *s.Max != 40 {
		t.Errorf("got slot %+v, want what the tool's schema says", s)
	}
	if cutPlan.Goal != "Read {file} and wait 30" || string(cutPlan.Steps[1].Params["path"]) != `{"$slot":"file"}` || string(kept.Steps[1].Params["path"]) != `"data/a.txt"` {
		t.Errorf("got %+v", cutPlan)
	}
	tmpl := Template{Format: 1, Name: "read", Title: "t", Phrases: []string{}, Slots: slots, Plan: cutPlan}
	doc, hash, err := tmpl.Canonical()
	if err != nil || !strings.HasPrefix(hash, "sha256:") {
		t.Fatal(err)
	}
	again := parsed(t, string(doc))
	q, _ := again.Instantiate(values(t, `{"file":"b.txt"}`))
	if q == nil || q.Goal != "Read b.txt and wait 30" || string(q.Steps[0].Params["path"]) != `"b.txt"` {
		t.Errorf("got %+v", q)
	}
}

// tools knows every tool as the same.
func tools(t *plan.Tool) func(string) (*plan.Tool, bool) {
	return func(string) (*plan.Tool, bool) { return t, true }
}

func TestR102_GoalsNameSlotsAsWholeWords(t *testing.T) {
	for _, c := range []struct {
		goal  string
		names map[string]string
		want  string
	}{
		{"Read a.txt of mya.txt and a.txt.", map[string]string{"a.txt": "{path}"}, "Read {path} of mya.txt and {path}."},
		{"10 times 1", map[string]string{"1": "{n}"}, "10 times {n}"},
		{"notes and notes.txt", map[string]string{"notes": "{a}", "notes.txt": "{b}"}, "{a} and {b}"},
		{"path of path", map[string]string{"path": "{path}", "of": "{path2}"}, "{path} {path2} {path}"},
		{"List . and stop.", map[string]string{".": "{folder}"}, "List {folder} and stop."},
		{"für élan", map[string]string{"f": "{x}", "élan": "{y}"}, "für {y}"},
		{"", map[string]string{"a": "{x}"}, ""},
	} {
		if got := gapped(c.goal, c.names); got != c.want {
			t.Errorf("%q with %v: got %q, want %q", c.goal, c.names, got, c.want)
		}
	}
}

func TestR102_SlotsAreBoundedAsTheirToolsAsk(t *testing.T) {
	p, findings := plan.Parse([]byte(`{"format":1,"goal":"g","steps":[
		{"id":"a","tool":"t","params":{"kind":"file","rows":[{"old":"x"}],"n":5}},
		{"id":"b","tool":"t","params":{"n":5},"guard":{"ref":{"step":"a","field":"out.total"},"op":"gt","value":7}}]}`))
	if p == nil {
		t.Fatal(findings)
	}
	offered := Candidates(p, tools(&plan.Tool{Input: json.RawMessage(`{"properties":{"kind":{"enum":["file","folder",3]},"n":{"minimum":1,"maximum":9},
		"rows":{"description":"Rows.","items":{"properties":{"old":{"minLength":1,"description":"What stood there; once."}}}}}}`)}))
	got := map[string]Candidate{}
	for _, c := range offered {
		got[c.Name] = c
	}
	if c := got["kind"]; len(c.Enum) != 2 {
		t.Errorf("kind: got %s, want the two texts", c.Enum)
	}
	if c := got["old"]; c.Description != "What stood there" || c.Min == nil || *c.Min != 1 {
		t.Errorf("old: got %+v, want what the schema of the member says", c)
	}
	if c := got["n"]; len(c.Places) != 2 || *c.Min != 1 || *c.Max != 9 {
		t.Errorf("n: got %+v, want one candidate of two places", c)
	}
	if c := got["total"]; c.Key != "/steps/1/guard/value" {
		t.Errorf("total: got %+v, want the value of the condition", c)
	}
	cutPlan, slots, found := Cut(p, offered, []Chosen{{Key: got["n"].Key, Name: "n"}, {Key: got["total"].Key, Name: "least"}})
	if len(found) > 0 || string(cutPlan.Steps[1].Guard.Value) != `{"$slot":"least"}` || string(p.Steps[1].Guard.Value) != "7" {
		t.Fatalf("got %+v %v, want the condition to have a slot and the run's plan as it was", cutPlan.Steps[1].Guard, found)
	}
	doc, _, _ := (&Template{Format: 1, Name: "x", Title: "t", Phrases: []string{}, Slots: slots, Plan: cutPlan}).Canonical()
	tmpl := parsed(t, string(doc))
	for text, pointer := range map[string]string{`{"n":10}`: "/values/n", `{"n":"5"}`: "/values/n", `{"n":0}`: "/values/n"} {
		if q, found := tmpl.Instantiate(values(t, text)); q != nil || found[0].Pointer != pointer {
			t.Errorf("%s: got %+v, want a problem at %s", text, found, pointer)
		}
	}
	for pointer, want := range map[string]string{"/steps/0/params/n": "n", "/steps/1/guard/value": "least", "/steps/0/params/kind": "", "/steps/0": ""} {
		if got := tmpl.SlotAt(pointer); got != want {
			t.Errorf("SlotAt(%s): got %q, want %q", pointer, got, want)
		}
	}
}

func TestP20_WhatATemplateFixedIsNotThePersonsWord(t *testing.T) {
	tmpl := parsed(t, invoices)
	p, found := tmpl.Instantiate(values(t, `{"to":"ana@example.org"}`))
	if p == nil {
		t.Fatal(found)
	}
	want := []map[string]string{{"path": "constant", "deep": "user"}, {"to": "user", "dry": "user"}}
	for i := range want {
		if !reflect.DeepEqual(p.Steps[i].Labels, want[i]) {
			t.Errorf("%s: got labels %v, want %v", p.Steps[i].ID, p.Steps[i].Labels, want[i])
		}
	}
}

func TestR102_ASlotSwallowsNoSecondWish(t *testing.T) {
	tmpl := parsed(t, `{"format":1,"name":"read","title":"Read","description":"","match":["read the file {path}","read the file {path} of {folder}"],
		"slots":[{"name":"path","type":"string","description":"","default":"a"},{"name":"folder","type":"string","description":"","default":"b"}],
		"plan":{"format":1,"goal":"Read {path} {folder}","steps":[{"id":"r","tool":"file.read","params":{"path":{"$slot":"path"},"in":{"$slot":"folder"}}}]}}`)
	for goal, want := range map[string]string{
		"read the file notes.txt":                           `"notes.txt" "b"`,
		"Read the file my notes.txt.":                       `"my notes.txt" "b"`,
		"read the file notes.txt of inbox":                  `"notes.txt" "inbox"`,
		`read the file "this and that.txt"`:                 `"this and that.txt" "b"`,
		"read the file notes.txt and delete other.txt":      "",
		"read the file notes.txt, then mail it":             "",
		"read the file notes.txt but do not show it":        "",
		"read the file notes.txt unless it is large":        "",
		"never read the file notes.txt":                     "",
		"read the file notes.txt without telling anybody":   "",
		"read the file notes.txt of inbox; delete the rest": "",
	} {
		p, _ := tmpl.Match(goal)
		got := ""
		if p != nil {
			got = string(p.Steps[0].Params["path"]) + " " + string(p.Steps[0].Params["in"])
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", goal, got, want)
		}
	}
}

func TestR104_ShippedTemplatesRead(t *testing.T) {
	list, err := Shipped()
	if err != nil || len(list) < 1 {
		t.Fatalf("got %d, %v", len(list), err)
	}
	for _, tmpl := range list {
		if _, found := Parse(must(tmpl.Canonical())); len(found) > 0 {
			t.Errorf("%s: its canonical form is refused: %+v", tmpl.Name, found)
		}
	}
}

func must(doc []byte, _ string, err error) []byte {
	if err != nil {
		panic(err)
	}
	return doc
}
