package plan

import (
	"reflect"
	"testing"
)

func TestR13_Warnings(t *testing.T) {
	cases := []struct {
		name, doc string
		want      expect
		related   []string
	}{
		{"chain", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum","depends_on":["a"]},{"id":"c","tool":"sum","params":{"c":1},"depends_on":["b"]}`), expect{"R13", "", "/steps"}, nil},
		{"edge twice", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum","depends_on":["a","a"]}`), expect{"R13", "b", "/steps/1/depends_on/1"}, []string{"a"}},
		{"spurious edge", steps(`{"id":"a","tool":"noop"},{"id":"x","tool":"noop","params":{"x":1}},{"id":"b","tool":"sum","depends_on":["a"]},{"id":"c","tool":"sum","params":{"c":1},"depends_on":["b","x","a"]}`), expect{"R13", "c", "/steps/3/depends_on/2"}, []string{"a"}},
		{"reads a candidate", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","b"],"join":"any_of"},{"id":"d","tool":"sum","param_refs":{"x":{"step":"a","field":"f"}}}`), expect{"R13", "d", "/steps/3/param_refs/x/step"}, []string{"a", "c"}},
		{"guard on a candidate", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","b"],"join":"any_of"},{"id":"d","tool":"sum","params":{"d":1},"guard":{"ref":{"step":"b","field":"f"},"op":"exists"}}`), expect{"R13", "d", "/steps/3/guard/ref/step"}, []string{"b", "c"}},
		{"no steps", steps(``), expect{"R13", "", "/steps"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compiled := mustCompile(t, c.doc, testEnv(t))
			f := wantFinding(t, compiled.Findings, c.want)
			if f.Severity != Warning || !reflect.DeepEqual(f.Related, c.related) {
				t.Errorf("got severity %s and related %v, want a warning and %v", f.Severity, f.Related, c.related)
			}
			if len(compiled.Findings) != 1 {
				t.Errorf("got %d findings, want one:%s", len(compiled.Findings), show(compiled.Findings))
			}
		})
	}
}

func TestR13_GoodPlansAreNotTalkedAbout(t *testing.T) {
	for _, doc := range []string{
		steps(`{"id":"a","tool":"noop"}`),
		steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum","depends_on":["a"]}`),
		steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","b"]}`),
		// Data needs its edge, also where another predecessor implies the order.
		steps(`{"id":"a","tool":"noop"},{"id":"x","tool":"noop","params":{"x":1}},{"id":"b","tool":"sum","depends_on":["a","x"]},{"id":"c","tool":"sum","depends_on":["b"],"param_refs":{"v":{"step":"a","field":"f"}}}`),
		// After an any_of the order of its candidates is not implied.
		steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","b"],"join":"any_of"},{"id":"d","tool":"sum","params":{"d":1},"depends_on":["c","a"]}`),
	} {
		if c := mustCompile(t, doc, testEnv(t)); len(c.Findings) != 0 {
			t.Errorf("%s: got%s", doc, show(c.Findings))
		}
	}
}
