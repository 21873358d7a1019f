package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/web/templates"
)

func callOf(t *testing.T, tool, params string) *callRecord {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &members); err != nil {
		t.Fatal(err)
	}
	c := &callRecord{Tool: tool}
	for name, value := range members {
		c.Params = append(c.Params, paramRecord{Name: name, Value: value})
	}
	return c
}

func shown(v *templates.Preview) string {
	var lines []string
	for _, line := range v.Lines {
		lines = append(lines, line.Kind+"|"+line.Text)
	}
	return strings.Join(lines, "\n")
}

// R73: the first words of a packet say how many people a message reaches, and
// the message stands below as it would be read.
func TestR73_ThePacketOfAMail(t *testing.T) {
	for params, want := range map[string]string{
		`{"to":["a@b.c","Bob <b@b.c>"],"cc":["c@b.c","A <a@b.c>"],"subject":"s","body":"b"}`: "Send 1 email to 3 external addresses",
		`{"to":["a@b.c"],"subject":"s","body":"b"}`:                                          "Send 1 email to 1 external address",
	} {
		if got := callTitle("mail.send", callOf(t, "mail.send", params)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	call := callOf(t, "mail.send", `{"to":["a@b.c","Bob <b@b.c>"],"cc":["c@b.c"],"subject":"Due \u202ereport","body":"Hello,\n\nbye\n"}`)
	want := "|To: a@b.c, Bob <b@b.c>\n|Cc: c@b.c\n|Subject: Due " + plain("\u202e") + "report\n|\n|Hello,\n|\n|bye"
	if got := shown(preview("mail.send", call)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if undoWords("mail.send") == "" || expiryWords("mail.send") != "then denied, nothing is sent" || !strings.Contains(approveWords("mail.send"), "exactly this message") {
		t.Error("the packet does not say what approving and waiting do")
	}
}

func TestR73_ThePacketOfAPatchShowsItsEdits(t *testing.T) {
	call := callOf(t, "file.patch", `{"path":"a.txt","edits":[{"old":"one\ntwo","new":"1"},{"old":"x","new":""}],"append":"end\n"}`)
	want := "|@@ edit 1 of 2 @@\ndel|one\ndel|two\nadd|1\n|@@ edit 2 of 2 @@\ndel|x\n|@@ at the end @@\nadd|end"
	if got := shown(preview("file.patch", call)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := callTitle("file.patch", call); got != "Change a.txt in the workspace" {
		t.Errorf("got %q", got)
	}
	long := callOf(t, "file.patch", `{"path":"a.txt","append":`+string(mustJSON(t, strings.Repeat("x\n", 200)))+`}`)
	if v := preview("file.patch", long); len(v.Lines) != previewLines || !strings.Contains(v.Note, "of 201 lines") {
		t.Errorf("got %d lines and %q", len(v.Lines), v.Note)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
