package store

import (
	"bytes"
	"encoding/json"

	"sluice/engine"
)

// recordAdmin adds a fact to the stream admin within the writer's transaction,
// for who projects it in the same one; it gives the fact's seq.
func (w *writer) recordAdmin(fact engine.Fact, data any) (int64, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return 0, err
	}
	fact.Data = bytes.TrimSpace(text.Bytes())
	if err := checkFact(&fact); err != nil {
		return 0, err
	}
	admin, err := w.head(Admin)
	if err != nil {
		return 0, err
	}
	facts := []engine.Fact{fact}
	kept, err := w.store.salter.salt(facts)
	if err != nil {
		return 0, err
	}
	w.changed = true
	seq := admin.seq + 1 // chaining moves the head
	return seq, w.chain(Admin, admin, facts, kept)
}
