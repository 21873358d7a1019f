package handlers

import (
	"encoding/json"
	"net/mail"
	"strconv"
	"strings"

	"sluice/web/templates"
)

// preview shows what a call would do, from its parameters alone: nothing is read
// for it. nil: the parameters say it all.
func preview(tool string, call *callRecord) *templates.Preview {
	switch tool {
	case "file.write":
		if content := call.param("content"); content != "" {
			return contentPreview(call.param("path"), content)
		}
	case "file.patch":
		return patchPreview(call)
	case "mail.send":
		return mailPreview(call)
	}
	return nil
}

// read takes a parameter apart; false: it is absent or of another form.
func (c *callRecord) read(name string, into any) bool {
	if c == nil {
		return false
	}
	for i := range c.Params {
		if c.Params[i].Name == name {
			return json.Unmarshal(c.Params[i].Value, into) == nil
		}
	}
	return false
}

// recipients are the addresses that a message goes to, each once.
func (c *callRecord) recipients() []string {
	var out []string
	seen := map[string]bool{}
	for _, name := range []string{"to", "cc"} {
		var list []string
		c.read(name, &list)
		for _, text := range list {
			key := text
			if address, err := mail.ParseAddress(text); err == nil {
				key = address.Address
			}
			if !seen[key] {
				seen[key] = true
				out = append(out, key)
			}
		}
	}
	return out
}

// mailTitle counts: who a message goes to is what an approver must not overlook.
func mailTitle(call *callRecord) string {
	n := len(call.recipients())
	switch n {
	case 0:
		return "Send 1 email"
	case 1:
		return "Send 1 email to 1 external address"
	}
	return "Send 1 email to " + strconv.Itoa(n) + " external addresses"
}

// mailPreview is the message as who gets it reads it.
func mailPreview(call *callRecord) *templates.Preview {
	body := call.param("body")
	v := &templates.Preview{Caption: "Email, " + plural(len(body), "byte"), Aside: "plain text"}
	for _, name := range []string{"to", "cc"} {
		var list []string
		if call.read(name, &list); len(list) > 0 {
			addLines(v, "", strings.ToUpper(name[:1])+name[1:]+": "+plain(strings.Join(list, ", ")))
		}
	}
	addLines(v, "", "Subject: "+call.param("subject")+"\n")
	addLines(v, "", "")
	addLines(v, "", body)
	return v
}

// patchPreview shows the edits as a difference.
func patchPreview(call *callRecord) *templates.Preview {
	var edits []struct{ Old, New string }
	call.read("edits", &edits)
	added := call.param("append")
	v := &templates.Preview{Caption: call.param("path") + ", " + plural(len(edits), "edit")}
	for i, edit := range edits {
		addLines(v, "", "@@ edit "+strconv.Itoa(i+1)+" of "+strconv.Itoa(len(edits))+" @@")
		addLines(v, "del", plain(edit.Old))
		addLines(v, "add", plain(edit.New))
	}
	if added != "" {
		addLines(v, "", "@@ at the end @@")
		addLines(v, "add", added)
	}
	return v
}

// addLines adds a text line by line, up to what a preview shows, and counts what
// it leaves out.
func addLines(v *templates.Preview, kind, text string) {
	if text == "" && kind != "" {
		return
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n") // the last line end begins no line
	for _, line := range lines {
		if len(v.Lines) < previewLines {
			v.Lines = append(v.Lines, templates.PreviewLine{Kind: kind, Text: shorten(line)})
		} else {
			v.More++
		}
	}
	if v.More > 0 {
		v.Note = "First " + strconv.Itoa(previewLines) + " of " + strconv.Itoa(previewLines+v.More) + " lines."
	}
}

// contentPreview shows what would be written, line by line.
func contentPreview(path, content string) *templates.Preview {
	v := &templates.Preview{Caption: path + ", " + plural(len(content), "byte")}
	addLines(v, "add", content)
	return v
}
