package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Drafts of the fakes: one draft of user 1 at revision 3, saved by a token.
const knownDraft = "d_1"

func (p *ports) Drafts(_ context.Context, owner, kind string) ([]Draft, error) {
	if kind == "policy" {
		return nil, nil
	}
	d, err := p.Draft(context.Background(), owner, knownDraft)
	d.Doc, d.View = "", ""
	return []Draft{d}, err
}

func (p *ports) Draft(_ context.Context, owner, id string) (Draft, error) {
	if owner != "user:1" || id != knownDraft {
		return Draft{}, errNone
	}
	return Draft{ID: id, Kind: "plan", Owner: owner, Name: "one", Doc: "{", View: "{}", Revision: 3, UpdatedBy: "token:t_1", UpdatedAt: 1_800_000_000_000_000}, nil
}

func (p *ports) AddDraft(_ context.Context, d Draft) (Draft, error) {
	d.ID, d.Revision = "d_2", 1
	return d, nil
}

func (p *ports) SaveDraft(_ context.Context, d Draft) (Draft, error) {
	if d.Revision != 3 {
		return d, &DraftConflict{Current: 3, Who: "token:t_1", At: 1_800_000_000_000_000}
	}
	p.saved = d
	d.Revision++
	return d, nil
}

func (p *ports) DeleteDraft(_ context.Context, d Draft) error {
	_, err := p.SaveDraft(context.Background(), d)
	return err
}

func readDraft(t *testing.T, w *httptest.ResponseRecorder) draftWire {
	t.Helper()
	var d draftWire
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("read %.300s: %v", w.Body, err)
	}
	return d
}

// TestP33_ADraftOverTheAPI: made, read, saved over its revision, deleted; what a
// save leaves out stays.
func TestP33_ADraftOverTheAPI(t *testing.T) {
	p := &ports{}
	b := newBed(t, p)
	made := b.send("POST", "/api/v1/drafts", `{"kind":"plan","name":" one ","doc":"{"}`)
	if d := readDraft(t, made); made.Code != http.StatusCreated || d.ID != "d_2" || d.Name != "one" || made.Header().Get("Location") != "/api/v1/drafts/d_2" {
		t.Errorf("got %d %s", made.Code, made.Body)
	}
	got := b.send("GET", "/api/v1/drafts/d_1", "")
	if d := readDraft(t, got); got.Code != http.StatusOK || d.Doc == nil || *d.Doc != "{" || d.Revision != 3 || got.Header().Get("ETag") != `"3"` {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	saved := b.send("PUT", "/api/v1/drafts/d_1", `{"revision":3,"doc":"{}"}`)
	if d := readDraft(t, saved); saved.Code != http.StatusOK || d.Revision != 4 || p.saved.Doc != "{}" || p.saved.Name != "one" || p.saved.View != "{}" {
		t.Errorf("got %d %s and %+v, want the new document beside the old name and view", saved.Code, saved.Body, p.saved)
	}
	if list := b.send("GET", "/api/v1/drafts?kind=plan", ""); strings.Contains(list.Body.String(), `"doc"`) || !strings.Contains(list.Body.String(), `"d_1"`) {
		t.Errorf("got %s, want the draft without its document", list.Body)
	}
	if gone := b.send("DELETE", "/api/v1/drafts/d_1", `{"revision":3}`); gone.Code != http.StatusNoContent {
		t.Errorf("got %d %s, want 204", gone.Code, gone.Body)
	}
}

// TestP41_AnOldRevisionIsAConflict: with what is current, who saved it and when.
func TestP41_AnOldRevisionIsAConflict(t *testing.T) {
	b := newBed(t, &ports{})
	for _, method := range []string{"PUT", "DELETE"} {
		p := b.problem(http.StatusConflict, b.send(method, "/api/v1/drafts/d_1", `{"revision":2}`))
		if p.Code != "conflict" || p.Revision != 3 || p.Who != "token:t_1" || p.When != "2027-01-15T08:00:00.000000Z" || p.Fix == "" {
			t.Errorf("%s: got %+v", method, p)
		}
		if p := b.problem(http.StatusUnprocessableEntity, b.send(method, "/api/v1/drafts/d_1", `{}`)); p.Pointer != "/revision" {
			t.Errorf("%s without a revision: got %+v", method, p)
		}
	}
	r := httptest.NewRequest("PUT", "/api/v1/drafts/d_1", strings.NewReader(`{"name":"x"}`))
	r.AddCookie(b.cookie)
	r.Header.Set("If-Match", `"2"`)
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	b.problem(http.StatusConflict, w)
}

// TestP41_DraftsThatCannotBe: each refusal points at what is wrong.
func TestP41_DraftsThatCannotBe(t *testing.T) {
	b := newBed(t, &ports{})
	for body, pointer := range map[string]string{
		`{"kind":"poem","name":"x"}`: "/kind",
		`{"kind":"plan"}`:            "/name",
		`{"kind":"plan","name":"` + strings.Repeat("x", 121) + `"}`: "/name",
	} {
		if p := b.problem(http.StatusUnprocessableEntity, b.send("POST", "/api/v1/drafts", body)); p.Pointer != pointer || p.Fix == "" {
			t.Errorf("%.60s: got %+v, want pointer %s", body, p, pointer)
		}
	}
	for _, id := range []string{"d_2", "x", "d_" + strings.Repeat("1", 80)} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			b.problem(http.StatusNotFound, b.send(method, "/api/v1/drafts/"+id, map[string]string{"GET": "", "PUT": `{"revision":1}`, "DELETE": `{"revision":1}`}[method]))
		}
	}
	b.problem(http.StatusBadRequest, b.send("GET", "/api/v1/drafts?kind=poem", ""))
}
