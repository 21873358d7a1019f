package engine

// readyQueue is a min-heap of positions: dispatch order is plan order (R25).
// Entries may be stale; who pops checks the node's state.
type readyQueue []int

func (q *readyQueue) push(i int) {
	*q = append(*q, i)
	h := *q
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if h[p] <= h[c] {
			return
		}
		h[p], h[c] = h[c], h[p]
		c = p
	}
}

func (q *readyQueue) pop() (int, bool) {
	h := *q
	if len(h) == 0 {
		return 0, false
	}
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for p := 0; ; {
		c := 2*p + 1
		if c >= last {
			return top, true
		}
		if c+1 < last && h[c+1] < h[c] {
			c++
		}
		if h[p] <= h[c] {
			return top, true
		}
		h[p], h[c] = h[c], h[p]
		p = c
	}
}
