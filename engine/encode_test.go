package engine

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// everyData is one value of each data type of facts.
func everyData() []factData {
	return []factData{&createdData{}, &versionData{}, &startedData{}, &endedData{}, &changedData{}, &requestedData{},
		&decidedData{}, &sketchData{}, &clearAskData{}, &clearedData{}, &attestedData{}, &unknownData{}, &inputData{}, &warnedData{}, &runEndedData{}}
}

func encode(d factData) []byte {
	var e enc
	d.append(&e)
	return e.b
}

// filler fills a value of any data type, as encoding/json sees it.
type filler struct {
	t     *rapid.T
	texts *rapid.Generator[string]
}

func nastyTexts() *rapid.Generator[string] {
	pieces := []string{"", "a", "é", "\u2028", "\u2029", `"`, `\`, "\x00", "\x1f", "\x7f", "\b\f\n\r\t", "<b>&amp;</b>", "😀", "\uFFFD", "\ufeff"}
	return rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	}))
}

func brokenTexts() *rapid.Generator[string] {
	return rapid.OneOf(nastyTexts(), rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes"))
	}))
}

func (f filler) fill(v reflect.Value, tag string) {
	omits := strings.Contains(tag, "omitempty")
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		if !omits || rapid.Bool().Draw(f.t, "raw") {
			v.SetBytes(f.json())
		}
	case v.Kind() == reflect.String:
		v.SetString(f.texts.Draw(f.t, "text"))
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(f.t, "bool"))
	case v.CanInt():
		v.SetInt(rapid.Int64Range(-1<<53, 1<<53).Draw(f.t, "int"))
	case v.Kind() == reflect.Pointer:
		if rapid.Bool().Draw(f.t, "pointer") {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), "")
		}
	case v.Kind() == reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(f.t, "len")
		if n == 0 && omits {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i), "")
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || field.Anonymous {
				f.fill(v.Field(i), field.Tag.Get("json"))
			}
		}
	default:
		f.t.Fatalf("no way to fill %s", v.Type())
	}
}

// json is a random compact value.
func (f filler) json() []byte {
	values := []any{nil, true, -1.5, 9007199254740991, f.texts.Draw(f.t, "value"), []any{}, map[string]any{f.texts.Draw(f.t, "key"): []any{1, "x"}}}
	return marshal(rapid.SampledFrom(values).Draw(f.t, "json"))
}

func standard(t *rapid.T, d any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		t.Fatalf("encoding/json refuses %+v: %v", d, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// The one difference that is wanted is in TestP27_NilListsAreWrittenAsEmpty.
func TestP27_FactDataEncodersEqualEncodingJSON(t *testing.T) {
	for _, empty := range everyData() {
		t.Run(reflect.TypeOf(empty).Elem().Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := reflect.New(reflect.TypeOf(empty).Elem())
				filler{t, brokenTexts()}.fill(d.Elem(), "")
				data := d.Interface().(factData)
				if got, want := encode(data), standard(t, data); !bytes.Equal(got, want) {
					t.Fatalf("got  %s\nwant %s", got, want)
				}
			})
		})
	}
}

func TestP27_FactDataDecodesToWhatWasEncoded(t *testing.T) {
	for _, empty := range everyData() {
		t.Run(reflect.TypeOf(empty).Elem().Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := reflect.New(reflect.TypeOf(empty).Elem())
				filler{t, nastyTexts().Filter(isValidText)}.fill(d.Elem(), "")
				back := reflect.New(d.Type().Elem())
				text := encode(d.Interface().(factData))
				if err := json.Unmarshal(text, back.Interface()); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if !reflect.DeepEqual(back.Interface(), d.Interface()) {
					t.Fatalf("got  %+v\nwant %+v\nfrom %s", back.Elem(), d.Elem(), text)
				}
			})
		})
	}
}

func isValidText(s string) bool { return isText(s) }

func TestP27_NilListsAreWrittenAsEmpty(t *testing.T) {
	for _, d := range everyData() {
		if got := encode(d); bytes.Contains(got, []byte("null")) && reflect.TypeOf(d) != reflect.TypeFor[*versionData]() {
			t.Errorf("%T: got %s, want no null: readers want lists", d, got)
		}
	}
	got := string(encode(&startedData{Call: &callData{}, Decision: &policy.Decision{}}))
	want := `{"id":"","kind":"","timeout_ms":0,"reserve":{"tool_calls":0,"side_effects":0},"call":{"tool":"","effect":"","external":false,` +
		`"declared_impact":0,"params":[],"intent":0,"scopes":[],"requester":""},"decision":{"decision":"","impact":0,"impact_name":"","limit":0,` +
		`"stage":null,"rules":[],"reasons":[],"asks":[],"policy":""}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Every kind of a run's stream has data that Apply can read.
func TestP28_EveryKindHasItsData(t *testing.T) {
	kinds := []Kind{RunCreated, VersionAdded, AttemptStarted, AttemptEnded, NodeChanged, ApprovalRequested, ApprovalDecided, OutcomeAttested,
		InputTimer, InputCancel, InputPause, InputResume, InputPolicy, InputUnknown, InputOrphan, BudgetWarned, RunHalting, RunEnded}
	for _, k := range kinds {
		if d, err := readData(k, []byte(`{}`)); d == nil || err != nil {
			t.Errorf("a fact of kind %s cannot be folded: %v", k, err)
		}
		if _, err := readData(k, []byte(`{"to":`)); err == nil {
			t.Errorf("a broken fact of kind %s was read", k)
		}
	}
	s := New(Env{})
	s.Apply(Fact{Seq: 7, Kind: RunErased, Data: []byte("{}")})
	if s.Seq() != 7 || s.fault != "" {
		t.Errorf("run.erased: seq %d fault %q, want 7 and none", s.Seq(), s.fault)
	}
}

// A fact that cannot be read ends the run as a fault, never the process (P6).
func TestP6_UnreadableFactIsAFault(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	r.s.Apply(Fact{Seq: r.s.Seq() + 1, At: r.now, Kind: AttemptEnded, Node: "a", Attempt: 1, Data: []byte("{")})
	r.must(&Pause{Head: r.head(requester)})
	r.wantCode(InternalFault, "read data of fact: attempt.ended")
}

func TestP40_RowOnTheWire(t *testing.T) {
	row := Row{Fact: Fact{Seq: 2, At: startUS + 7, Kind: InputPause, Cause: 2, Version: 1, Actor: requester, Data: []byte(`{}`)},
		ID: 1<<32 + 2, Stream: "run/r_1", Run: "r_1", Salt: []byte{1}, DataHash: []byte{2}, PrevHash: []byte{3}, Hash: []byte{4}}
	want := `{"id":4294967298,"stream":"run/r_1","seq":2,"v":1,"run":"r_1","at":"2023-11-14T22:13:20.000007Z","kind":"input.pause","cause":2,` +
		`"plan_version":1,"node":"","attempt":0,"actor":"user:1","data":{},"salt":"01","data_hash":"02","prev_hash":"03","hash":"04"}`
	if got := string(row.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	row.Erased = true
	if got := string(row.AppendJSON(nil)); !strings.Contains(got, `"data":null,"salt":null`) || !strings.HasSuffix(got, `"erased":true}`) {
		t.Errorf("erased row: %s", got)
	}
}
