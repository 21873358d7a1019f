package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine"
)

// Limits of one append.
const (
	appendFactsMax = 100_000 // facts: ten per step of the largest plan
	kindBytesMax   = 64
	nodeBytesMax   = 256 // step ids are at most 64 (P8); kernel nodes may add to them
	actorBytesMax  = 256
	keyBytesMax    = 256 // idempotency key
	ownerBytesMax  = 256
)

// Next as Append.Expected appends wherever the stream stands (AppendNext, P31).
const Next int64 = -1

// Append asks for facts to be added to one stream, all or none.
type Append struct {
	Stream   string
	Expected int64           // seq of the stream's last fact, 0 for a new stream, or Next
	Facts    []engine.Fact   // Seq is Expected+1 and on; with Next it is given by the writer. Data must stay as it is until done
	Create   *RunMeta        // with the first facts of a run
	Summary  *engine.Summary // saved in the same transaction, nil to leave it
}

// RunMeta is what a new run is registered with (P33, P35).
type RunMeta struct {
	Run            string
	Owner          string // principal
	IdempotencyKey string // "" for none
	BodyHash       string // of the request that carried the key
}

// pendingAppend is an Append that was checked, with all that can be prepared
// outside the writer.
type pendingAppend struct {
	Append
	salted    []salted // one per fact
	approvals []approvalFact
	summary   *summaryRow
	bytes     int
}

// AppendAt adds facts behind the fact `expected` and returns when they are
// durable. ErrConflict: the stream stands elsewhere; ErrInvalid: a fact breaks a
// rule. In both cases the stream is as it was. ctx is looked at before the
// facts are handed over, never after.
func (s *Store) AppendAt(ctx context.Context, stream string, expected int64, facts []engine.Fact) error {
	return s.appendWait(ctx, Append{Stream: stream, Expected: expected, Facts: facts})
}

// AppendNext adds facts at the end of a stream, wherever that is. Their Seq is
// ignored; a Cause of 0 becomes the seq of the first of them.
func (s *Store) AppendNext(ctx context.Context, stream string, facts []engine.Fact) error {
	return s.appendWait(ctx, Append{Stream: stream, Expected: Next, Facts: facts})
}

func (s *Store) appendWait(ctx context.Context, a Append) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	s.Append(a, func(err error) { result <- err })
	return <-result
}

// Append hands facts to the writer and returns when they are queued, which
// waits while the queue is full. done is called exactly once: on the writer's
// goroutine after the commit, or before Append returns when the request is
// refused at once. done must be quick and must not call the store.
func (s *Store) Append(a Append, done func(error)) {
	pending, err := s.prepareAppend(a)
	if err != nil {
		done(err)
		return
	}
	s.send(request{append: pending, done: done})
}

func (s *Store) prepareAppend(a Append) (*pendingAppend, error) {
	p := &pendingAppend{Append: a}
	if err := checkAppend(&a); err != nil {
		return nil, err
	}
	var err error
	if p.salted, err = s.salter.salt(a.Facts); err != nil {
		return nil, err
	}
	for i := range a.Facts {
		f := &a.Facts[i]
		p.bytes += len(f.Data)
		if f.Kind == TemplateSaved || f.Kind == TemplateQuarantined {
			return nil, invalid("a fact about a template comes with its row")
		}
		if f.Kind == PolicyPublished {
			return nil, invalid("a policy is published with its row, by PublishPolicy")
		}
		if f.Kind != engine.ApprovalRequested && f.Kind != engine.ApprovalDecided {
			continue
		}
		approval, err := parseApproval(RunOf(a.Stream), f)
		if err != nil {
			return nil, err
		}
		approval.index = int64(i)
		p.approvals = append(p.approvals, approval)
	}
	if a.Summary == nil {
		return p, nil
	}
	row, err := newSummaryRow(a.Summary)
	if err != nil {
		return nil, err
	}
	p.summary = row
	return p, nil
}

func checkAppend(a *Append) error {
	if err := checkStream(a.Stream); err != nil {
		return err
	}
	if len(a.Facts) == 0 || len(a.Facts) > appendFactsMax {
		return invalid("append of %d facts, 1 to %d are allowed", len(a.Facts), appendFactsMax)
	}
	if a.Expected < Next || a.Expected > streamSeqMax-int64(len(a.Facts)) {
		return invalid("expected seq %d", a.Expected)
	}
	for i := range a.Facts {
		f := &a.Facts[i]
		if a.Expected != Next && f.Seq != a.Expected+1+int64(i) {
			return invalid("fact %d has seq %d, want %d", i, f.Seq, a.Expected+1+int64(i))
		}
		if err := checkFact(f); err != nil {
			return err
		}
	}
	if a.Summary != nil && a.Stream != StreamOf(a.Summary.ID) {
		return invalid("summary of %.80q in stream %s", a.Summary.ID, a.Stream)
	}
	return checkMeta(a)
}

func checkMeta(a *Append) error {
	m := a.Create
	if m == nil {
		return nil
	}
	if a.Stream != StreamOf(m.Run) || a.Expected != 0 {
		return invalid("create run %.80q with stream %s at %d", m.Run, a.Stream, a.Expected)
	}
	if m.Owner == "" || len(m.Owner) > ownerBytesMax {
		return invalid("owner of %d bytes, 1 to %d are allowed", len(m.Owner), ownerBytesMax)
	}
	if len(m.IdempotencyKey) > keyBytesMax {
		return invalid("idempotency key of %d bytes, at most %d are allowed", len(m.IdempotencyKey), keyBytesMax)
	}
	return nil
}

func checkFact(f *engine.Fact) error {
	switch {
	case f.Kind == "" || len(f.Kind) > kindBytesMax:
		return invalid("kind %.80q", f.Kind)
	case len(f.Node) > nodeBytesMax:
		return invalid("node of %d bytes, at most %d are allowed", len(f.Node), nodeBytesMax)
	case len(f.Actor) > actorBytesMax:
		return invalid("actor of %d bytes, at most %d are allowed", len(f.Actor), actorBytesMax)
	case len(f.Data) > engine.FactBytesMax:
		return invalid("fact data of %d bytes, at most %d are allowed", len(f.Data), engine.FactBytesMax)
	case !looksLikeObject(f.Data):
		return invalid("fact data of kind %s is no JSON object on one line", f.Kind)
	case !isWithin53(f.At) || !isWithin53(f.Cause) || !isWithin53(int64(f.Version)) || !isWithin53(int64(f.Attempt)):
		return invalid("integer of fact %s beyond ±2^53", f.Kind)
	}
	return nil
}

func isWithin53(n int64) bool { return n >= -integerMax && n <= integerMax }

// looksLikeObject is the cheap half of a JSON check: facts come from the core's
// own encoders, which are tested against encoding/json. Raw line breaks are
// refused because an export has one fact a line.
func looksLikeObject(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	isObject := data[0] == '{' && data[len(data)-1] == '}'
	return isObject && bytes.IndexByte(data, '\n') < 0
}

// emptyData is stored for a fact without data: NULL means erased.
var emptyData = []byte("{}")

func storedData(f *engine.Fact) []byte {
	if len(f.Data) == 0 {
		return emptyData
	}
	return f.Data
}

func decodeData(kind engine.Kind, data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read data of %s: %w: %w", kind, err, ErrInvalid)
	}
	return nil
}
