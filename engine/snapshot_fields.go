package engine

import (
	"encoding/json"

	"sluice/policy"
)

// The fields of a snapshot, written and read in one order. A field added to a
// folded type is added here too, and SnapshotVersion goes up; the property test
// of snapshots fails where one is forgotten.

func (r *runState) pack(p *packer) {
	for _, s := range []string{r.id, r.goal, r.requester, r.mode, r.checkpoints, r.pinned, r.planBy, r.answer, r.planFailed,
		string(r.halt), string(r.code), r.profile.Name, r.review, r.template, r.startedBy, r.current, r.note} {
		p.str(s)
	}
	for _, n := range []int64{int64(r.intent), r.seq, r.now, r.createdAt, r.endedAt, int64(r.version), r.activeUS,
		r.profile.Steps, r.profile.Replans, int64(r.profile.Slots), int64(r.replans), r.startedAt, r.versionAt, r.visibleAt} {
		p.int(n)
	}
	for d := range dimCount {
		p.int(*r.profile.limit(d))
		p.bool(r.warned[d])
	}
	r.spent.pack(p)
	r.reserved.pack(p)
	r.models.Planner.pack(p)
	r.models.Executor.pack(p)
	for _, v := range []bool{r.started, r.created, r.paused, r.replan} {
		p.bool(v)
	}
	p.strs(r.scopes)
	p.strs(r.causes)
	p.strs(r.fallbacks)
	p.int(int64(len(r.unplanned)))
	for _, u := range r.unplanned {
		p.str(u.Clause)
		p.str(u.Why)
	}
	p.bool(r.verdict != nil)
	if r.verdict != nil {
		r.verdict.pack(p)
	}
}

func (r *runState) unpack(p *packer) {
	var halt, code string
	for _, s := range []*string{&r.id, &r.goal, &r.requester, &r.mode, &r.checkpoints, &r.pinned, &r.planBy, &r.answer, &r.planFailed,
		&halt, &code, &r.profile.Name, &r.review, &r.template, &r.startedBy, &r.current, &r.note} {
		p.readStr(s)
	}
	r.halt, r.code = Code(halt), Code(code)
	p.readRank(&r.intent)
	for _, n := range []*int64{&r.seq, &r.now, &r.createdAt, &r.endedAt} {
		p.readInt(n)
	}
	p.readN(&r.version)
	for _, n := range []*int64{&r.activeUS, &r.profile.Steps, &r.profile.Replans} {
		p.readInt(n)
	}
	p.readN(&r.profile.Slots)
	p.readN(&r.replans)
	for _, n := range []*int64{&r.startedAt, &r.versionAt, &r.visibleAt} {
		p.readInt(n)
	}
	for d := range dimCount {
		p.readInt(r.profile.limit(d))
		r.warned[d] = p.readBool()
	}
	r.spent.unpack(p)
	r.reserved.unpack(p)
	r.models.Planner.unpack(p)
	r.models.Executor.unpack(p)
	for _, v := range []*bool{&r.started, &r.created, &r.paused, &r.replan} {
		*v = p.readBool()
	}
	p.readStrs(&r.scopes)
	p.readStrs(&r.causes)
	p.readStrs(&r.fallbacks)
	for range p.readLen() {
		var u Unplanned
		p.readStr(&u.Clause)
		p.readStr(&u.Why)
		r.unplanned = append(r.unplanned, u)
	}
	if p.readBool() {
		r.verdict = &Verdict{}
		r.verdict.unpack(p)
	}
}

func (v *Verdict) pack(p *packer) {
	p.str(v.Text)
	p.str(v.By)
	p.int(int64(len(v.Claims)))
	for _, c := range v.Claims {
		p.str(c.Text)
		p.strs(c.Observations)
	}
}

func (v *Verdict) unpack(p *packer) {
	p.readStr(&v.Text)
	p.readStr(&v.By)
	v.Claims = make([]Claim, p.readLen())
	for i := range v.Claims {
		p.readStr(&v.Claims[i].Text)
		p.readStrs(&v.Claims[i].Observations)
	}
}

func (n *node) pack(p *packer) {
	for _, v := range []int64{int64(n.state), int64(n.attempt), int64(n.asked), int64(n.left), int64(n.good), int64(n.bad),
		int64(n.skips), int64(n.need), int64(n.needBad), int64(n.needSkips), int64(n.hold),
		n.startedAt, n.endedAt, n.retryAt, n.askedAt} {
		p.int(v)
	}
	n.reserve.pack(p)
	for _, v := range []bool{n.candidate, n.passed, n.unknown, n.denied, n.inherited, n.blob != nil} {
		p.bool(v)
	}
	p.str(string(n.class))
	p.str(n.cause)
	p.str(n.observation)
	p.bytes(n.output)
	if b := n.blob; b != nil {
		p.strs([]string{b.SHA256, b.Type, b.Head, b.Tail})
		p.int(b.Size)
	}
	p.int(int64(len(n.held)))
	for _, h := range n.held {
		p.str(h.ID)
		p.str(h.Hash)
		p.int(h.ExpiresAt)
		p.strs(h.Approvers)
	}
	n.clear.pack(p)
}

func (n *node) unpack(p *packer) {
	var state int64
	p.readInt(&state)
	if state < 0 || state >= stateCount {
		p.bad = true
		return
	}
	n.state = nodeState(state)
	for _, v := range []*int{&n.attempt, &n.asked, &n.left, &n.good, &n.bad, &n.skips, &n.need, &n.needBad, &n.needSkips, &n.hold} {
		p.readN(v)
	}
	for _, v := range []*int64{&n.startedAt, &n.endedAt, &n.retryAt, &n.askedAt} {
		p.readInt(v)
	}
	n.reserve.unpack(p)
	isBlob := false
	for _, v := range []*bool{&n.candidate, &n.passed, &n.unknown, &n.denied, &n.inherited, &isBlob} {
		*v = p.readBool()
	}
	var class string
	p.readStr(&class)
	n.class = Class(class)
	p.readStr(&n.cause)
	p.readStr(&n.observation)
	p.readBytes(&n.output)
	if isBlob {
		n.unpackBlob(p)
	}
	for range p.readLen() {
		var h policy.Approval
		p.readStr(&h.ID)
		p.readStr(&h.Hash)
		p.readInt(&h.ExpiresAt)
		p.readStrs(&h.Approvers)
		n.held = append(n.held, h)
	}
	n.clear.unpack(p)
}

func (n *node) unpackBlob(p *packer) {
	var words []string
	p.readStrs(&words)
	if len(words) != 4 {
		p.bad = true
		return
	}
	n.blob = &Blob{SHA256: words[0], Type: words[1], Head: words[2], Tail: words[3]}
	p.readInt(&n.blob.Size)
}

// pack keeps the request as JSON: it is small, rare, and has a form already.
func (a *approval) pack(p *packer) {
	p.bytes(marshal(a.ask))
	for _, n := range []int64{int64(a.node), int64(a.attempt), a.asked, a.at} {
		p.int(n)
	}
	p.strs(a.approvers)
	p.str(string(a.result))
	p.str(a.by)
}

func (a *approval) unpack(p *packer) {
	var ask []byte
	p.readBytes(&ask)
	if json.Unmarshal(ask, &a.ask) != nil {
		p.bad = true
	}
	p.readN(&a.node)
	p.readN(&a.attempt)
	p.readInt(&a.asked)
	p.readInt(&a.at)
	p.readStrs(&a.approvers)
	var result string
	p.readStr(&result)
	a.result = ApprovalResult(result)
	p.readStr(&a.by)
}
