package engine

import (
	"errors"

	"sluice/engine/plan"
)

// SnapshotVersion is the form of Snapshot's bytes. A reader that finds another
// one folds from the first fact: snapshots are disposable (P32).
const SnapshotVersion = 7

var errSnapshot = errors.New("read snapshot: it is damaged or of another form")

// Snapshot writes the folded state in a binary form: equal states give equal
// bytes, so a snapshot can be checked against a fold. It is taken between Steps.
func (s *State) Snapshot() []byte {
	p := packer{b: make([]byte, 0, 4096)}
	p.int(SnapshotVersion)
	p.str(Version)
	s.run.pack(&p)
	p.bool(s.plan != nil)
	if s.plan != nil {
		p.bytes(s.plan.Canonical)
	}
	p.int(int64(len(s.grown)))
	for _, n := range s.grown {
		p.int(int64(n))
	}
	p.int(int64(len(s.control)))
	for _, c := range s.control {
		c.pack(&p)
	}
	p.int(int64(len(s.sketch)))
	for i := range s.sketch {
		s.sketch[i].pack(&p)
	}
	for i := range s.nodes {
		s.nodes[i].pack(&p)
	}
	for g := range s.turns {
		p.int(int64(s.turns[g].at))
	}
	p.int(int64(len(s.approval)))
	for k := range s.approval {
		s.approval[k].pack(&p)
	}
	p.str(s.fault)
	return p.b
}

// Restore reads what Snapshot wrote. The State has no Env yet: SetEnv gives it.
// Any damage is an error, never a panic: the caller folds instead.
func Restore(data []byte) (*State, error) {
	p := packer{b: data}
	s := New(Env{})
	version, engineVersion := int64(0), ""
	p.readInt(&version)
	p.readStr(&engineVersion)
	if version != SnapshotVersion || engineVersion != Version {
		return nil, errSnapshot
	}
	s.run.unpack(&p)
	if p.readBool() && !s.restorePlan(&p) {
		return nil, errSnapshot
	}
	for range p.readLen() {
		n := 0
		p.readN(&n)
		s.grown = append(s.grown, n)
	}
	for range p.readLen() {
		c := &control{}
		c.unpack(&p)
		s.control = append(s.control, c)
	}
	for range p.readLen() {
		var k sketched
		k.unpack(&p)
		s.sketch = append(s.sketch, k)
	}
	for i := range s.nodes {
		s.nodes[i].unpack(&p)
	}
	for g := range s.turns {
		p.readN(&s.turns[g].at)
	}
	s.unpackApprovals(&p)
	p.readStr(&s.fault)
	if p.bad || len(p.b) > 0 {
		return nil, errSnapshot
	}
	s.recount()
	return s, nil
}

func (s *State) restorePlan(p *packer) bool {
	var canonical []byte
	p.readBytes(&canonical)
	c, err := plan.Load(canonical)
	if err != nil {
		return false
	}
	s.load(c)
	s.ready, s.due, s.spares, s.step.trans = nil, nil, nil, nil
	return true
}

func (s *State) unpackApprovals(p *packer) {
	for range p.readLen() {
		var a approval
		a.unpack(p)
		if p.bad || a.node < 0 || a.node >= len(s.nodes) {
			p.bad = true
			return
		}
		s.approval = append(s.approval, a)
	}
}

// recount derives everything that is not stored from what is.
func (s *State) recount() {
	s.count = [stateCount]int{}
	s.running, s.unknown, s.run.openApprovals = 0, 0, 0
	for _, n := range s.control {
		if n.state == running {
			s.running++
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		s.count[n.state]++
		switch n.state {
		case running:
			s.running++
		case ready:
			s.ready.push(i)
		case retryable:
			s.retry = append(s.retry, i)
		}
		if n.unknown {
			s.unknown++
		}
	}
	for k := range s.approval {
		if s.approval[k].result == "" {
			s.run.openApprovals++
		}
	}
}
