package sim

// event is something that will happen at a time of the virtual clock.
type event struct {
	at   int64 // µs UTC
	turn int   // events of one time keep the order in which they were planned
	do   func()
}

// agenda is a queue of events by time.
type agenda struct {
	list  []event
	turns int
}

func (a *agenda) plan(at int64, do func()) {
	a.turns++
	e := event{at: at, turn: a.turns, do: do}
	i := len(a.list)
	for i > 0 && a.list[i-1].at > at {
		i--
	}
	a.list = append(a.list, event{})
	copy(a.list[i+1:], a.list[i:])
	a.list[i] = e
}

func (a *agenda) next() (event, bool) {
	if len(a.list) == 0 {
		return event{}, false
	}
	e := a.list[0]
	a.list = a.list[1:]
	return e, true
}
