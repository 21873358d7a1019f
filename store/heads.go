package store

import (
	"bytes"
	"sync"
)

// dirtyHeads are the streams that have moved since the last seal. The writer
// fills it after each commit; Seal empties it.
type dirtyHeads struct {
	mutex sync.Mutex
	heads map[string]StreamHead
}

// publishHeads notes the streams that the committed batch has moved.
func (w *writer) publishHeads() {
	if len(w.rows.changed) == 0 {
		return
	}
	d := &w.store.dirty
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.heads == nil {
		d.heads = make(map[string]StreamHead)
	}
	for stream := range w.rows.changed {
		at := w.heads[stream]
		d.heads[stream] = StreamHead{Stream: stream, Seq: at.seq, Hash: bytes.Clone(at.hash[:])}
	}
	clear(w.rows.changed)
}

// take gives the moved heads and starts over.
func (d *dirtyHeads) take() map[string]StreamHead {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	taken := d.heads
	d.heads = nil
	return taken
}

// giveBack returns heads that could not be sealed; newer ones win.
func (d *dirtyHeads) giveBack(taken map[string]StreamHead) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.heads == nil {
		d.heads = make(map[string]StreamHead)
	}
	for stream, head := range taken {
		if _, moved := d.heads[stream]; !moved {
			d.heads[stream] = head
		}
	}
}
