package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bindingMutations change one thing each that an approval is given for.
func bindingMutations() map[string]func(*Call, *int64) {
	return map[string]func(*Call, *int64){
		"run":             func(c *Call, _ *int64) { c.Run = "r_2" },
		"node":            func(c *Call, _ *int64) { c.Node = "b" },
		"tool":            func(c *Call, _ *int64) { c.Tool.Name = "file.delet" },
		"parameter name":  func(c *Call, _ *int64) { c.Params[1].Name = "path2" },
		"parameter value": func(c *Call, _ *int64) { c.Params[1].Value = []byte(`"notes.txt "`) },
		"parameter gone":  func(c *Call, _ *int64) { c.Params = c.Params[:1] },
		"parameter more":  func(c *Call, _ *int64) { c.Params = append(c.Params, Param{Name: "z", Value: []byte("1")}) },
		"label":           func(c *Call, _ *int64) { c.Params[1].Labels = []Label{LabelUntrusted} },
		"label gone":      func(c *Call, _ *int64) { c.Params[1].Labels = c.Params[1].Labels[:1] },
		"label elsewhere": func(c *Call, _ *int64) {
			c.Params[0].Labels, c.Params[1].Labels = c.Params[1].Labels, c.Params[0].Labels
		},
		"idempotency key":  func(c *Call, _ *int64) { c.Key = "k_2" },
		"no key":           func(c *Call, _ *int64) { c.Key = "" },
		"expiry":           func(_ *Call, at *int64) { *at++ },
		"text moved":       func(c *Call, _ *int64) { c.Run, c.Node = "r_1a", "" },
		"name into value":  func(c *Call, _ *int64) { c.Params[1].Name, c.Params[1].Value = `path"`, []byte(`notes.txt"`) },
		"values exchanged": func(c *Call, _ *int64) { c.Params[0].Value, c.Params[1].Value = c.Params[1].Value, c.Params[0].Value },
	}
}

// freshCall shares nothing with another one, so that a test may change it.
func freshCall() Call {
	c := callOf(deleter())
	for i := range c.Params {
		c.Params[i].Labels = slices.Clone(c.Params[i].Labels)
	}
	return c
}

// TestP21_BindingCoversEachField: with any of them changed, the hash differs
// and an approval given before no longer answers.
func TestP21_BindingCoversEachField(t *testing.T) {
	p := compiled(t, Default())
	expires := noon + 3600*second
	original := Binding(freshCall(), expires)
	seen := map[string]string{original: "nothing"}
	for name, mutate := range bindingMutations() {
		c, at := freshCall(), expires
		c.Held = []Approval{{ID: "a_1", Hash: original, ExpiresAt: expires, Approvers: []string{"user:2"}}}
		wantOutcome(t, Decide(p, c), Allow, "", "A1")
		mutate(&c, &at)
		c.Held[0].ExpiresAt = at
		hash := Binding(c, at)
		if other, ok := seen[hash]; ok {
			t.Errorf("changing %s gives the hash of changing %s", name, other)
		}
		seen[hash] = name
		if d := Decide(p, c); d.Outcome != Ask {
			t.Errorf("changing %s after approval: got %s, want ask", name, d.Outcome)
		}
	}
}

// TestP21_BindingLeavesOut: what re-evaluation at dispatch covers is not bound,
// so that a retry with the same key needs no new approval.
func TestP21_BindingLeavesOut(t *testing.T) {
	want := Binding(freshCall(), noon)
	for name, mutate := range map[string]func(*Call){
		"attempt":         func(c *Call) { c.Attempt = 7 },
		"source":          func(c *Call) { c.Params[0].Source = "step:x/y" },
		"intent":          func(c *Call) { c.Intent = Observe },
		"scopes":          func(c *Call) { c.Scopes = nil },
		"time":            func(c *Call) { c.At++ },
		"impact":          func(c *Call) { c.Tool.Impact = Observe },
		"approvals":       func(c *Call) { c.Held = []Approval{{ID: "a"}} },
		"order of params": func(c *Call) { slices.Reverse(c.Params) },
		"order of labels": func(c *Call) { slices.Reverse(c.Params[1].Labels) },
		"a label twice":   func(c *Call) { c.Params[0].Labels = []Label{LabelUser, LabelUser} },
	} {
		c := freshCall()
		mutate(&c)
		if got := Binding(c, noon); got != want {
			t.Errorf("changing %s: got another hash, want the same", name)
		}
	}
}

func TestP21_RetryUnderTheSameKeyKeepsItsApproval(t *testing.T) {
	p := compiled(t, Default())
	c := approved(freshCall(), "user:2")
	c.Attempt = 2
	if g, d := Authorise(p, p, c); !g.Valid() || d.Outcome != Allow {
		t.Errorf("attempt 2, same key: got %s, want allow and a grant", d.Outcome)
	}
	c.Key = "k_new"
	if g, d := Authorise(p, p, c); g.Valid() || d.Outcome != Ask {
		t.Errorf("a new key: got %s, want ask and no grant", d.Outcome)
	}
}

// TestP21_BindingVector writes the encoding out by hand, so that another
// program can be built from it.
func TestP21_BindingVector(t *testing.T) {
	c := Call{
		Run: "r_1", Node: "n", Tool: Tool{Name: "file.delete"}, Key: "k",
		Params: []Param{{Name: "path", Value: []byte(`"x"`), Labels: []Label{LabelUser}}},
	}
	const encoded = "\x00\x00\x00\x00\x00\x00\x00\x11sluice approval 1" +
		"\x00\x00\x00\x00\x00\x00\x00\x03r_1" +
		"\x00\x00\x00\x00\x00\x00\x00\x01n" +
		"\x00\x00\x00\x00\x00\x00\x00\x0bfile.delete" +
		"\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x00\x00\x00\x00\x04path" +
		"\x00\x00\x00\x00\x00\x00\x00\x03\"x\"" +
		"\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x00\x00\x00\x00\x04user" +
		"\x00\x00\x00\x00\x00\x00\x00\x01k" +
		"\x00\x00\x00\x00\x00\x00\x01\x00"
	sum := sha256.Sum256([]byte(encoded))
	if got, want := Binding(c, 256), "sha256:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestP21_NoTwoCallsShareAnEncoding draws pairs of calls from few short texts
// and compares hashes with a plain comparison of what is bound.
func TestP21_NoTwoCallsShareAnEncoding(t *testing.T) {
	text := rapid.StringMatching(`[a\x00]{0,3}`)
	draw := func(t *rapid.T, who string) Call {
		c := Call{Run: text.Draw(t, who+" run"), Node: text.Draw(t, who+" node"), Tool: Tool{Name: text.Draw(t, who+" tool")}, Key: text.Draw(t, who+" key")}
		for i := range rapid.IntRange(0, 2).Draw(t, who+" params") {
			param := Param{Name: string(rune('p' + i)), Value: []byte(text.Draw(t, who+" value"))}
			param.Labels = rapid.SampledFrom([][]Label{nil, {"a"}, {"a", "aa"}}).Draw(t, who+" labels")
			c.Params = append(c.Params, param)
		}
		return c
	}
	same := func(a, b Call) bool {
		isSame := a.Run == b.Run && a.Node == b.Node && a.Tool.Name == b.Tool.Name && a.Key == b.Key
		return isSame && slices.EqualFunc(a.Params, b.Params, func(x, y Param) bool {
			return x.Name == y.Name && bytes.Equal(x.Value, y.Value) && slices.Equal(x.Labels, y.Labels)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		if got, want := Binding(a, 1) == Binding(b, 1), same(a, b); got != want {
			t.Fatalf("same hash: got %v, want %v for\n%+v\n%+v", got, want, a, b)
		}
	})
}

func TestP21_BindingLeavesItsCallAlone(t *testing.T) {
	c := freshCall()
	slices.Reverse(c.Params)
	slices.Reverse(c.Params[0].Labels)
	before := fmt.Sprintf("%+v", c.Params)
	Binding(c, 1)
	if after := fmt.Sprintf("%+v", c.Params); after != before {
		t.Errorf("got %s after hashing, want %s", after, before)
	}
}
