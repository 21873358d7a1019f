package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// wire is a decision as P37 writes it, for encoding/json.
type wire struct {
	Outcome    Outcome    `json:"decision"`
	Impact     Rank       `json:"impact"`
	ImpactName string     `json:"impact_name"`
	Limit      Rank       `json:"limit"`
	Stage      *string    `json:"stage"`
	Rules      []string   `json:"rules"`
	Reasons    []string   `json:"reasons"`
	Asks       []AskFor   `json:"asks"`
	Policy     string     `json:"policy"`
	Clear      []ClearFor `json:"clear,omitempty"`
}

func drawTexts(t *rapid.T) []string {
	text := rapid.OneOf(rapid.String(), rapid.Just(`<a href="x">&`), rapid.Just("\xff\u2028\u202e"), rapid.Just("plain"))
	return append([]string{}, rapid.SliceOfN(text, 0, 3).Draw(t, "texts")...)
}

func drawDecision(t *rapid.T) Decision {
	d := Decision{
		Outcome: rapid.SampledFrom([]Outcome{Allow, Ask, Deny}).Draw(t, "outcome"),
		Impact:  drawRank(t), ImpactName: "x", Limit: drawRank(t),
		Stage: rapid.SampledFrom([]string{"", StageScope, StageImpact, StageClearance, StageInput}).Draw(t, "stage"),
		Rules: drawTexts(t), Reasons: drawTexts(t), Asks: []AskFor{}, Policy: "sha256:00",
	}
	for range rapid.IntRange(0, 2).Draw(t, "asks") {
		d.Asks = append(d.Asks, AskFor{Rule: "A1", Per: "call", Quorum: 2, Roles: drawTexts(t), ExpiresS: 60})
	}
	for range rapid.IntRange(0, 2).Draw(t, "clear") {
		d.Clear = append(d.Clear, ClearFor{Rule: "C1", URL: "https://a.example/<x>?a&b", TimeoutS: 5})
	}
	return d
}

// TestP27_DecisionBytesAreThoseOfEncodingJSON: hand-written encoders are equal
// to it, byte for byte.
func TestP27_DecisionBytesAreThoseOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDecision(t)
		shape := wire{d.Outcome, d.Impact, d.ImpactName, d.Limit, nil, d.Rules, d.Reasons, d.Asks, d.Policy, d.Clear}
		if d.Stage != "" {
			shape.Stage = &d.Stage
		}
		want, err := json.Marshal(shape)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		if got := d.AppendJSON([]byte("x")); string(got) != "x"+string(want) {
			t.Fatalf("AppendJSON: got %s\nwant x%s", got, want)
		}
		if got, err := json.Marshal(d); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("json.Marshal: got %s and %v\nwant %s", got, err, want)
		}
	})
}

// TestP20_DecisionsReadBack: a decision fact holds the whole result.
func TestP20_DecisionsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c := mustCompile(t, drawDocument(t)), drawCall(t)
		want := Decide(p, c)
		var got Decision
		if err := json.Unmarshal(want.AppendJSON(nil), &got); err != nil {
			t.Fatalf("decode: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
	for _, text := range []string{`{"rules":null}`, `{"asks":null}`, `{"reasons":null}`, `[]`, `{"impact":"x"}`} {
		var d Decision
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s: got no error, want one", text)
		}
	}
}

func TestP37_ListsAreNeverNull(t *testing.T) {
	want := `{"decision":"","impact":0,"impact_name":"","limit":0,"stage":null,"rules":[],"reasons":[],"asks":[],"policy":""}`
	if got := string(Decision{}.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestP29_CanonicalIsRFC8785 compares with an implementation of the standard.
func TestP29_CanonicalIsRFC8785(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDocument(t)
		d.Tools["odd"] = ToolRule{Impact: rankOf(0), Reason: strings.ToValidUTF8(rapid.String().Draw(t, "reason"), "")}
		d.Tools["fixed"] = ToolRule{Impact: rankOf(0), Reason: "\x00\b\t\n\f\r\x1f\"\\/<>&\u2028\U0001F600"}
		got := Canonical(d)
		want := jsontext.Value(bytes.Clone(got))
		if err := want.Canonicalize(); err != nil {
			t.Fatalf("%s is not JSON: %v", got, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	})
}

// TestP29_PoliciesReadBack: a pinned policy is loaded from its canonical bytes
// and is the same policy under the same hash.
func TestP29_PoliciesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mustCompile(t, drawDocument(t))
		loaded, err := Load(p.Canonical())
		if err != nil {
			t.Fatalf("load %s: %v", p.Canonical(), err)
		}
		if loaded.Hash() != p.Hash() || !bytes.Equal(loaded.Canonical(), p.Canonical()) {
			t.Fatalf("got %s\nwant %s", loaded.Canonical(), p.Canonical())
		}
		c := drawCall(t)
		if got, want := Decide(loaded, c), Decide(p, c); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		viaJSON, err := json.Marshal(p.Document())
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		again, err := Load(viaJSON)
		if err != nil || again.Hash() != p.Hash() {
			t.Fatalf("through encoding/json: got %v, want the same hash", err)
		}
	})
	for _, text := range []string{``, `{`, `[]`, `{"version":1}{}`, `{"version":1} x`, `{"version":2}`, `{"version":1,"conditions":[]}`} {
		if p, err := Load([]byte(text)); err == nil || p != nil {
			t.Errorf("%q: got a policy, want an error", text)
		}
	}
}

// TestP29_HashNamesTheDocument: a change of any part changes it, absent rules
// are not the same as none, and what only spells out a default changes nothing.
func TestP29_HashNamesTheDocument(t *testing.T) {
	seen := map[string]string{compiled(t, Default()).Hash(): "nothing"}
	for name, change := range map[string]func(*Document){
		"intents":       func(d *Document) { d.Intents["draft"] = 50 },
		"scope":         func(d *Document) { d.Scopes["s"] = Scope{} },
		"tool":          func(d *Document) { d.Scopes["default"].Tools[0] = "x" },
		"cap":           func(d *Document) { d.Scopes["default"].Caps["shell"] = 50 },
		"override":      func(d *Document) { d.Tools["file.delete"] = ToolRule{Impact: rankOf(150)} },
		"reason":        func(d *Document) { d.Tools["file.delete"] = ToolRule{Impact: rankOf(200), Reason: "x"} },
		"self":          func(d *Document) { d.Approvals.Self = selfDenied },
		"no self":       func(d *Document) { d.Approvals.Self = "" },
		"absent rules":  func(d *Document) { d.Approvals.Rules = nil },
		"no rules":      func(d *Document) { d.Approvals.Rules = []ApprovalRule{} },
		"rule id":       oneRule(func(r *ApprovalRule) { r.ID = "A2" }),
		"rule impact":   oneRule(func(r *ApprovalRule) { r.When.ImpactAtLeast = rankOf(199) }),
		"rule external": oneRule(func(r *ApprovalRule) { r.When.External = truth(false) }),
		"rule tools":    oneRule(func(r *ApprovalRule) { r.When.Tools = []string{"x"} }),
		"quorum":        oneRule(func(r *ApprovalRule) { r.Quorum = 2 }),
		"roles":         oneRule(func(r *ApprovalRule) { r.Roles = []string{"admin"} }),
		"expiry":        oneRule(func(r *ApprovalRule) { r.ExpiresS = 1 }),
		"kill switch":   func(d *Document) { d.KillSwitches = []string{"x"} },
	} {
		hash := edited(t, change).Hash()
		if other, ok := seen[hash]; ok {
			t.Errorf("changing %s gives the hash of changing %s", name, other)
		}
		seen[hash] = name
	}
	open := Document{Version: 1, Approvals: Approvals{Rules: []ApprovalRule{{ID: "R"}}}}
	sum := sha256.Sum256(Canonical(open))
	if got, want := compiled(t, open).Hash(), "sha256:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want the hash over Canonical, %s", got, want)
	}
	spelled := edited(t, func(d *Document) {
		d.Intents, d.KillSwitches = nil, nil
		rule := &d.Approvals.Rules[0]
		rule.Per, rule.Quorum, rule.Roles, rule.ExpiresS = "", 0, nil, 0
	})
	if got, want := spelled.Hash(), compiled(t, Default()).Hash(); got != want {
		t.Errorf("defaults left open: got %s, want %s", got, want)
	}
	if hash := compiled(t, Default()).Hash(); !strings.HasPrefix(hash, "sha256:") || len(hash) != len("sha256:")+64 {
		t.Errorf("got %s, want sha256: and 64 hex digits", hash)
	}
}
