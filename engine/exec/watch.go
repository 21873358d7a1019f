package exec

import "sync"

// watchers wake whoever follows a run. A wake says "there is more in the log",
// never what: a slow watcher loses nothing, it reads on from where it is.
type watchers struct {
	mu  sync.Mutex
	set map[string]map[chan struct{}]bool
}

// Watch gives a channel that receives after commits of a run ("" watches every
// run), and a function that ends the watch.
func (s *Shell) Watch(run string) (<-chan struct{}, func()) {
	w := &s.watch
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set == nil {
		w.set = map[string]map[chan struct{}]bool{}
	}
	if w.set[run] == nil {
		w.set[run] = map[chan struct{}]bool{}
	}
	w.set[run][ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.set[run], ch)
		if len(w.set[run]) == 0 {
			delete(w.set, run)
		}
	}
}

func (w *watchers) wake(run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range [2]string{run, ""} {
		for ch := range w.set[key] {
			select {
			case ch <- struct{}{}:
			default: // it has a wake waiting already
			}
		}
	}
}
