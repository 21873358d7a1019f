package policy

import (
	"reflect"
	"slices"
	"testing"
)

func granted(t *testing.T, p *Policy, c Call) Grant {
	t.Helper()
	g, d := Authorise(p, p, c)
	if !g.Valid() {
		t.Fatalf("authorise: got %s (%q), want allow", d.Outcome, d.Reasons)
	}
	return g
}

// TestP18_GrantCoversOneCall: any other run, node, attempt, tool, parameter or
// policy is another grant.
func TestP18_GrantCoversOneCall(t *testing.T) {
	p := compiled(t, Default())
	original := callOf(writer())
	g := granted(t, p, original)
	if !g.Covers(original) {
		t.Fatal("the grant does not cover its own call")
	}
	for name, mutate := range map[string]func(*Call){
		"run":             func(c *Call) { c.Run = "r_2" },
		"node":            func(c *Call) { c.Node = "b" },
		"attempt":         func(c *Call) { c.Attempt = 2 },
		"tool":            func(c *Call) { c.Tool.Name = "file.read" },
		"parameter name":  func(c *Call) { c.Params[0].Name = "a" },
		"parameter value": func(c *Call) { c.Params[0].Value = []byte("1") },
		"parameter gone":  func(c *Call) { c.Params = c.Params[:1] },
		"text moved":      func(c *Call) { c.Run, c.Node = "r_1a", "" },
	} {
		c := callOf(writer())
		mutate(&c)
		if g.Covers(c) {
			t.Errorf("changing %s: the grant still covers the call", name)
		}
		if c.Node != "" && granted(t, p, c).ID() == g.ID() {
			t.Errorf("changing %s: got the same id", name)
		}
	}
	same := callOf(writer())
	same.At, same.Held, same.Params[0].Source = 1, []Approval{{ID: "a"}}, "elsewhere"
	if !g.Covers(same) {
		t.Error("time, approvals and sources are not in the grant, but it does not cover the call")
	}
	if other := granted(t, withRules(t, selfDenied), original); other.ID() == g.ID() {
		t.Error("another policy gives the same id")
	}
}

func TestP18_ZeroGrantIsNotValid(t *testing.T) {
	var g Grant
	if g.Valid() || g.Covers(callOf(reader())) || g.Covers(Call{}) {
		t.Error("the zero grant is valid or covers a call")
	}
}

// TestP18_GrantComesFromNowhereElse: with no exported field and no other method
// than these, nothing can decode or fill a Grant outside this package.
func TestP18_GrantComesFromNowhereElse(t *testing.T) {
	kind := reflect.TypeFor[Grant]()
	for i := range kind.NumField() {
		if field := kind.Field(i); field.IsExported() {
			t.Errorf("the field %s is exported", field.Name)
		}
	}
	pointer := reflect.TypeFor[*Grant]()
	methods := []string{}
	for i := range pointer.NumMethod() {
		methods = append(methods, pointer.Method(i).Name)
	}
	if want := []string{"Covers", "ID", "Valid"}; !slices.Equal(methods, want) {
		t.Errorf("got methods %v, want %v: another could set what the gate did not", methods, want)
	}
}

func TestP18_BindingAndGrantNeverMeet(t *testing.T) {
	p := compiled(t, Default())
	c := callOf(writer())
	id := granted(t, p, c).ID()
	if other := granted(t, p, c).ID(); other != id {
		t.Error("the same call under the same policy has two ids: a second use could not be seen")
	}
	if bindingDomain == grantDomain {
		t.Error("approvals and grants are hashed in one domain")
	}
}
