package trace

// Grid of the step cards, px (mock/tokens "Graph").
const (
	ColumnPX = 248
	RowPX    = 92
)

// place is a card's column and row.
type place struct{ col, row int }

// layout gives every card a place once: its column is one past its furthest
// parent, its row the free one nearest to its parents' mean. Places are never
// changed, so nothing on screen moves that is there already.
type layout struct {
	at    map[string]place
	taken map[place]bool
}

func newLayout() *layout {
	return &layout{at: map[string]place{}, taken: map[place]bool{}}
}

// add places one card after its parents.
func (l *layout) add(id string, parents []string) place {
	p := place{}
	sum := 0
	known := 0
	for _, parent := range parents {
		q, ok := l.at[parent]
		if !ok {
			continue
		}
		p.col = max(p.col, q.col+1)
		sum += q.row
		known++
	}
	want := 0
	if known > 0 {
		want = sum / known
	}
	p.row = l.freeRow(p.col, want)
	l.at[id] = p
	l.taken[p] = true
	return p
}

// drop frees the place of a card that is gone.
func (l *layout) drop(id string) {
	delete(l.taken, l.at[id])
	delete(l.at, id)
}

// freeRow looks outwards from the wanted row, upwards and downwards in turn.
func (l *layout) freeRow(col, want int) int {
	for d := 0; ; d++ {
		if !l.taken[place{col, want + d}] {
			return want + d
		}
		if want-d >= 0 && !l.taken[place{col, want - d}] {
			return want - d
		}
	}
}
