package engine

import (
	"slices"
	"strings"

	"sluice/policy"
)

// ask stops a ready node for people (T3): the request carries the whole gate
// decision and is bound to exactly this call (P21).
func (s *State) ask(i int, c policy.Call, d policy.Decision) {
	n := &s.nodes[i]
	step := &s.plan.Steps[i]
	expires := int64(1) << 53
	for _, a := range d.Asks {
		expires = min(expires, s.run.now+a.ExpiresS*1_000_000)
	}
	data := &requestedData{
		ApprovalAsk: ApprovalAsk{
			ID:        s.deriveID("a_", step.ID, n.attempt+1, n.asked),
			Hash:      policy.Binding(c, expires),
			ExpiresAt: expires,
			Asks:      d.Asks,
			Self:      s.selfAllowed(),
			Requester: s.run.requester,
			Tool:      step.Tool,
			Impact:    d.Impact,
		},
		Call:     s.callData(&c),
		Decision: &d,
	}
	s.emit(ApprovalRequested, step.ID, n.attempt+1, data)
}

// selfAllowed: the stricter of the pinned and the current policy (P19).
func (s *State) selfAllowed() bool {
	return s.env.Pinned.SelfApproval() && s.env.Current.SelfApproval()
}

func (s *State) foldRequested(f *Fact, d *requestedData) {
	_, i := s.at(f.Node)
	if i < 0 {
		s.broken("approval for unknown node")
		return
	}
	s.nodes[i].asked++
	s.approval = append(s.approval, approval{ask: d.ApprovalAsk, node: i, attempt: f.Attempt, asked: f.At, at: f.At})
	s.run.openApprovals++
	s.move(i, waiting, "T3")
}

func (s *State) findApproval(id string) *approval {
	for k := range s.approval {
		if s.approval[k].ask.ID == id {
			return &s.approval[k]
		}
	}
	return nil
}

// acceptDecide refuses a verdict that may not count, before anything changes (P23).
func (s *State) acceptDecide(in *Decide) error {
	a := s.findApproval(in.Approval)
	switch {
	case a == nil:
		return refuse("not_found", "no approval "+in.Approval+" in this run", "open the approvals page for what is waiting")
	case a.result != "":
		return &Refusal{Code: "conflict", Message: "this request is already " + string(a.result),
			Fix: "nothing is left to decide", Who: a.by, At: a.at}
	case s.clamp(in.At) > a.ask.ExpiresAt:
		return refuse("conflict", "this request has expired", "submit the goal again")
	case in.Verdict != Approve && in.Verdict != Reject:
		return refuse("invalid", "verdict "+in.Verdict+" is neither approve nor deny", "send approve or deny")
	case in.Hash != a.ask.Hash:
		return refuse("conflict", "the verdict is for another call than the one that waits", "reload the packet and decide again")
	case in.Verdict == Reject && strings.TrimSpace(in.Reason) == "":
		return refuse("invalid", "a denial needs a reason", "write the reason and send it again")
	case len(in.Reason) > ReasonBytesMax:
		return refuse("invalid", "the reason is longer than 4 KiB", "shorten it")
	}
	return acceptActor(a, in)
}

// acceptActor: only people with the role, each once, never the requester
// unless the policy says so (P23, P25).
func acceptActor(a *approval, in *Decide) error {
	if !strings.HasPrefix(in.Actor, "user:") {
		return refuse("denied", "only people may decide approvals", "sign in and decide in the browser")
	}
	if in.Actor == a.ask.Requester && !a.ask.Self {
		return refuse("denied", "the requester may not decide their own request", "ask another approver")
	}
	if slices.Contains(a.approvers, in.Actor) {
		return &Refusal{Code: "conflict", Message: "you have already approved this request",
			Fix: "another approver has to decide", Who: in.Actor, At: a.at}
	}
	for _, ask := range a.ask.Asks {
		if len(ask.Roles) > 0 && !overlaps(ask.Roles, in.Roles) {
			return refuse("denied", "rule "+ask.Rule+" wants the role "+strings.Join(ask.Roles, " or "), "ask somebody with that role")
		}
	}
	return nil
}

func overlaps(a, b []string) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}

func (s *State) decide(in *Decide) {
	a := s.findApproval(in.Approval)
	result := Denied
	if in.Verdict == Approve {
		result = Counted
		if len(a.approvers)+1 >= quorum(a.ask.Asks) {
			result = Approved
		}
	}
	s.emit(ApprovalDecided, s.plan.Steps[a.node].ID, s.nodes[a.node].attempt+1, &decidedData{
		ApprovalOutcome: ApprovalOutcome{ID: in.Approval, Result: result, Reason: clean(in.Reason)},
		Input:           decideInput{Kind: "decide", Verdict: in.Verdict, Hash: in.Hash, Roles: in.Roles},
	})
}

func quorum(asks []policy.AskFor) int {
	most := 1
	for i := range asks {
		most = max(most, asks[i].Quorum)
	}
	return most
}

// foldDecided moves the node: approved → pending and, its join being satisfied,
// ready again (T4); denied or expired → cancelled (T5).
func (s *State) foldDecided(f *Fact, d *decidedData) {
	a := s.findApproval(d.ID)
	if a == nil || a.result != "" {
		s.broken("verdict on no open approval")
		return
	}
	a.at, a.by = f.At, f.Actor
	if d.Result == Approved || d.Result == Counted {
		a.approvers = append(a.approvers, f.Actor)
	}
	if d.Result == Counted {
		return
	}
	a.result = d.Result
	s.run.openApprovals--
	n := &s.nodes[a.node]
	switch d.Result {
	case Approved:
		n.held = append(n.held, policy.Approval{ID: a.ask.ID, Hash: a.ask.Hash,
			ExpiresAt: a.ask.ExpiresAt, Approvers: slices.Clone(a.approvers)})
		s.move(a.node, pending, "T4")
		s.wake(a.node)
	case Denied, Expired:
		n.cause, n.endedAt, n.denied = "rejected", f.At, true
		if d.Result == Expired {
			n.cause = "expired"
		}
		s.move(a.node, cancelled, "T5")
	}
}

// voidApproval closes the open request of a node that is leaving for good.
func (s *State) voidApproval(i int) {
	for k := range s.approval {
		if a := &s.approval[k]; a.node == i && a.result == "" {
			s.emit(ApprovalDecided, s.plan.Steps[i].ID, s.nodes[i].attempt+1, &decidedData{
				ApprovalOutcome: ApprovalOutcome{ID: a.ask.ID, Result: Voided}})
			return
		}
	}
}

func (s *State) expireApprovals() {
	for k := 0; k < len(s.approval); k++ {
		a := &s.approval[k]
		if a.result == "" && s.run.now > a.ask.ExpiresAt {
			s.emit(ApprovalDecided, s.plan.Steps[a.node].ID, s.nodes[a.node].attempt+1, &decidedData{
				ApprovalOutcome: ApprovalOutcome{ID: a.ask.ID, Result: Expired},
				Input:           decideInput{Kind: "timer"},
			})
		}
	}
}
