package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestP20_ATemplateVouchesForNoWordsOfAModel: what a model wrote stays untrusted
// when its run is saved; what a person fills in instead is theirs.
func TestP20_ATemplateVouchesForNoWordsOfAModel(t *testing.T) {
	t.Parallel()
	cfg, _ := modelled(t, ruled(planRule("look for", `{"format":1,"goal":"g","steps":[{"id":"look","tool":"file.search","params":{"query":"milk","path":"."}}]}`)))
	o := worldOf(t, cfg).operator()
	r := o.runToRest(`{"goal":"look for milk","intent":"observe"}`)
	o.want(http.StatusCreated, o.post("/api/v1/templates", fmt.Sprintf(`{"run":%q,"name":"look","title":"Look","slots":[{"key":"/steps/0/params/query","name":"what","description":""}]}`, r.ID)), nil)
	for body, want := range map[string]string{`{"what":"tea"}`: `"name":"query","value":"tea","labels":["user"]`, `{}`: `"name":"query","value":"milk","labels":["untrusted"]`} {
		again := o.runToRest(`{"template":{"name":"look","values":` + body + `}}`)
		log := o.factsText(again.ID)
		if again.code() != "SUCCESS" || !strings.Contains(log, want) || !strings.Contains(log, `"name":"path","value":".","labels":["untrusted"]`) {
			t.Errorf("%s: got %s %s\nwant %s, and the path as untrusted as it was", body, again.code(), log, want)
		}
	}
}
