package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// evidence is what an export kept elsewhere says.
type evidence struct {
	seals []outsideSeal
	heads map[string]StreamHead // of the facts in it
}

// outsideSeal is a seal of an export; all is nil but on the newest one.
type outsideSeal struct {
	Seal
	all []StreamHead
}

// parseEvidence reads an export or lines of one; nil for none.
func parseEvidence(export []byte) (*evidence, error) {
	if export == nil {
		return nil, nil
	}
	e := &evidence{heads: make(map[string]StreamHead)}
	lines := bufio.NewReader(bytes.NewReader(export))
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := e.addLine(line); err != nil {
				return nil, invalid("line %d: %v", number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if len(e.seals) == 0 && len(e.heads) == 0 {
		return nil, invalid("neither a seal nor a fact")
	}
	return e, nil
}

func (e *evidence) addLine(line []byte) error {
	var kind struct {
		Seal   *int64 `json:"seal"`
		Stream string `json:"stream"`
		Seq    int64  `json:"seq"`
		Hash   string `json:"hash"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return err
	}
	if kind.Seal != nil {
		seal, err := parseSeal(line)
		e.seals = append(e.seals, seal)
		return err
	}
	head, err := fromWireHead(wireHead{Stream: kind.Stream, Seq: kind.Seq, Hash: kind.Hash})
	if err == nil && head.Seq > e.heads[head.Stream].Seq {
		e.heads[head.Stream] = head
	}
	return err
}

func parseSeal(line []byte) (outsideSeal, error) {
	var wire wireSeal
	var seal outsideSeal
	if err := json.Unmarshal(line, &wire); err != nil {
		return seal, err
	}
	at, err := time.Parse(time.RFC3339Nano, wire.At)
	if err != nil {
		return seal, err
	}
	seal.N, seal.At = wire.N, at.UnixMicro()
	for _, field := range []struct {
		text string
		into *[]byte
	}{{wire.Prev, &seal.Prev}, {wire.Root, &seal.Root}, {wire.Key, (*[]byte)(&seal.Key)}, {wire.Sig, &seal.Sig}} {
		if *field.into, err = hex.DecodeString(field.text); err != nil {
			return seal, err
		}
	}
	if seal.Heads, err = fromWireHeads(wire.Heads); err != nil {
		return seal, err
	}
	seal.all, err = fromWireHeads(wire.All)
	return seal, err
}

func fromWireHeads(wire []wireHead) ([]StreamHead, error) {
	var heads []StreamHead
	for _, w := range wire {
		head, err := fromWireHead(w)
		if err != nil {
			return nil, err
		}
		heads = append(heads, head)
	}
	return heads, nil
}

func fromWireHead(w wireHead) (StreamHead, error) {
	hash, err := hex.DecodeString(w.Hash)
	if err != nil || len(hash) != hashBytes || w.Stream == "" || w.Seq < 1 {
		return StreamHead{}, errHeads
	}
	return StreamHead{Stream: w.Stream, Seq: w.Seq, Hash: hash}, nil
}

// readSeals checks the seals of the database and of the evidence and takes
// their heads as expectations.
func (v *verification) readSeals(ctx context.Context, outside *evidence) error {
	seals, err := querySeals(ctx, v.db)
	if errors.Is(err, errHeads) || err != nil && isDamage(err) {
		v.sealsFail(0, "table seals is damaged")
	} else if err != nil {
		return err
	}
	key := v.trustedKey(seals, outside)
	v.checkOwnSeals(seals, key)
	if outside == nil {
		return nil
	}
	for stream, head := range outside.heads {
		v.expect(stream, head.Seq, expectation{hash: head.Hash, by: "the export"})
	}
	for i := range outside.seals {
		v.checkOutsideSeal(&outside.seals[i], key)
	}
	v.compareSeals(seals, outside.seals)
	return nil
}

// trustedKey prefers what came from outside: whoever rewrites the database can
// seal it anew with a key of their own.
func (v *verification) trustedKey(seals []Seal, outside *evidence) ed25519.PublicKey {
	switch {
	case v.options.PublicKey != nil:
		return v.options.PublicKey
	case outside != nil && len(outside.seals) > 0:
		return outside.seals[0].Key
	case len(seals) > 0:
		return seals[0].Key
	}
	return nil
}

func (v *verification) sealsFail(n int64, reason string) {
	v.extra = append(v.extra, StreamReport{Stream: reportSeals, Status: StatusBroken, Seq: n, Reason: reason})
}

func (v *verification) checkOwnSeals(seals []Seal, key ed25519.PublicKey) {
	all, prev := &sealedHeads{heads: make(map[string]StreamHead)}, make([]byte, hashBytes)
	for i := range seals {
		seal := &seals[i]
		switch {
		case seal.N != int64(i)+1:
			v.sealsFail(int64(i)+1, "a seal is missing")
			return
		case !seal.isSigned(key):
			v.sealsFail(seal.N, "the signature is not of the key")
			return
		case !bytes.Equal(seal.Prev, prev):
			v.sealsFail(seal.N, "the seal does not follow the one before")
			return
		}
		prev, all = seal.link(), all.with(seal)
		for _, head := range seal.Heads {
			v.expect(head.Stream, head.Seq, expectation{hash: head.Hash, by: fmt.Sprintf("seal %d", seal.N)})
		}
	}
	if all.last != nil && !bytes.Equal(rootOf(all.heads), all.last.Root) {
		v.sealsFail(all.last.N, "the root is not of the heads")
	}
}

func (v *verification) checkOutsideSeal(seal *outsideSeal, key ed25519.PublicKey) {
	if !seal.isSigned(key) {
		v.sealsFail(seal.N, "the signature of the seal given is not of the key")
		return
	}
	heads := seal.Heads
	if seal.all != nil {
		all := (&sealedHeads{heads: make(map[string]StreamHead)}).with(&Seal{Heads: seal.all})
		if !bytes.Equal(rootOf(all.heads), seal.Root) {
			v.sealsFail(seal.N, "the root of the seal given is not of its heads")
			return
		}
		heads = append(heads, seal.all...)
	}
	for _, head := range heads {
		v.expect(head.Stream, head.Seq, expectation{hash: head.Hash, by: fmt.Sprintf("the seal given (%d)", seal.N)})
	}
}

// compareSeals wants every seal of the evidence among the database's own.
func (v *verification) compareSeals(own []Seal, outside []outsideSeal) {
	for i := range outside {
		n := outside[i].N
		if n < 1 || n > int64(len(own)) {
			v.extra = append(v.extra, StreamReport{Stream: reportSeals, Status: StatusTruncated, Seq: int64(len(own)),
				Reason: fmt.Sprintf("seal %d was given and is not in the database", n)})
			return
		}
		if !bytes.Equal(own[n-1].Sig, outside[i].Sig) {
			v.sealsFail(n, "the database has another seal of this number than was given")
			return
		}
	}
}
