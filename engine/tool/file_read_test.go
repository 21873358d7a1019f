package tool

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func TestFileRead_TextAndBinary(t *testing.T) {
	w := newWorld(t, nil)
	w.write("docs/text.txt", "grüße\n")
	w.write("zero.bin", "a\x00b")
	w.write("bad.bin", "a\xffb")
	w.write("empty", "")
	cases := map[string]struct{ encoding, content string }{
		"docs/text.txt": {"utf-8", "grüße\n"},
		"zero.bin":      {"base64", base64.StdEncoding.EncodeToString([]byte("a\x00b"))},
		"bad.bin":       {"base64", base64.StdEncoding.EncodeToString([]byte("a\xffb"))},
		"empty":         {"utf-8", ""},
	}
	for path, want := range cases {
		var got fileContent
		w.want("file.read", `{"path":`+quote(path)+`}`, &got)
		if got.Path != path || got.Encoding != want.encoding || got.Content != want.content || got.Truncated || got.NextOffset != nil {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
		if int(got.SizeBytes) != len(w.read(path)) || got.Modified == "" {
			t.Errorf("%s: got size %d, modified %q", path, got.SizeBytes, got.Modified)
		}
	}
}

// Reading on at next_offset gives the whole file, whatever the limit, and never
// cuts a character in two.
func TestFileRead_PagesAddUp(t *testing.T) {
	w := newWorld(t, nil)
	text := strings.Repeat("aé€😀", 50)
	w.write("a.txt", text)
	for limit := 4; limit < 40; limit++ {
		var got strings.Builder
		offset := int64(0)
		for {
			var page fileContent
			w.want("file.read", fmt.Sprintf(`{"path":"a.txt","offset":%d,"limit":%d}`, offset, limit), &page)
			if page.Encoding != "utf-8" || page.Truncated != (page.NextOffset != nil) {
				t.Fatalf("limit %d offset %d: got %+v", limit, offset, page)
			}
			got.WriteString(page.Content)
			if page.NextOffset == nil {
				break
			}
			offset = *page.NextOffset
		}
		if got.String() != text {
			t.Fatalf("limit %d: pages do not add up to the file", limit)
		}
	}
}

func TestFileRead_Limits(t *testing.T) {
	w := newWorld(t, nil)
	w.write("big", strings.Repeat("\x01", readBytesMax+1))
	for _, params := range []string{
		`{"path":"big","limit":0}`, `{"path":"big","limit":1048577}`, `{"path":"big","offset":-1}`, `{}`,
	} {
		w.refuse("file.read", params, Invalid)
	}
	var got fileContent
	if w.want("file.read", `{"path":"big"}`, &got); len(got.Content) != readBytesDefault || !got.Truncated {
		t.Errorf("without a limit: got %d bytes, truncated %v; want %d", len(got.Content), got.Truncated, readBytesDefault)
	}
	if w.want("file.read", `{"path":"big","limit":1048576}`, &got); len(got.Content) != readBytesMax {
		t.Errorf("at the limit, every byte escaped: got %d bytes, want %d", len(got.Content), readBytesMax)
	}
	if w.want("file.read", `{"path":"big","offset":2000000}`, &got); got.Content != "" || got.Truncated {
		t.Errorf("behind the end: got %q, truncated %v; want nothing", got.Content, got.Truncated)
	}
}
