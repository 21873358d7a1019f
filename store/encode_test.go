package store

import (
	"bytes"
	"encoding/hex"
	"testing"

	"sluice/engine"
)

// The vector is fixed for ever: whoever verifies a log without this program
// starts here. It was computed by another program from the words at hasher.row.
func TestP27_HashVector(t *testing.T) {
	fact := engine.Fact{Seq: 2, At: 1_700_000_000_000_000, Kind: engine.AttemptStarted, Cause: 1, Version: 3, Node: "a",
		Attempt: 1, Actor: "system", Data: []byte(`{"x":1}`)}
	h := newHasher()
	salt := []byte("0123456789abcdef")
	dataHash := h.data(nil, salt, fact.Data)
	got := h.row(nil, &chained{prev: bytes.Repeat([]byte{0xab}, 32), stream: "run/r_1", run: "r_1", seq: 2, v: 1,
		fact: &fact, cause: 1, dataHash: dataHash})
	const wantData, wantRow = "2c92cc24e72d14de1408139e7ba495319413539a8375316604eb6747cdb1f80a",
		"8da123ca85d4b764d36b41354b1b75d0127820a0c541e8f3eef0cbc829f700f5"
	if hex.EncodeToString(dataHash) != wantData {
		t.Errorf("data hash is %x, want %s", dataHash, wantData)
	}
	if hex.EncodeToString(got) != wantRow {
		t.Errorf("row hash is %x, want %s", got, wantRow)
	}
}

func TestP27_HashingAllocatesNothing(t *testing.T) {
	fact := benchFact(1)
	h := newHasher()
	var dataHash, rowHash, prev [hashBytes]byte
	var salt [saltBytes]byte
	h.row(rowHash[:0], &chained{prev: prev[:], stream: "run/r_1", run: "r_1", fact: &fact, dataHash: dataHash[:]})
	if allocated := testing.AllocsPerRun(100, func() {
		h.data(dataHash[:0], salt[:], fact.Data)
		h.row(rowHash[:0], &chained{prev: prev[:], stream: "run/r_1", run: "r_1", fact: &fact, dataHash: dataHash[:]})
	}); allocated != 0 {
		t.Errorf("hashing a row allocates %v times, want 0", allocated)
	}
}

// countingReader deals out a known sequence.
type countingReader struct{ reads int }

func (r *countingReader) Read(p []byte) (int, error) {
	r.reads++
	for i := range p {
		p[i] = byte(i / saltBytes)
	}
	return len(p), nil
}

func TestP27_SaltsAreDealtOnceFromABuffer(t *testing.T) {
	source := &countingReader{}
	dealer := newSalts(source)
	for i := range 2 * saltPoolBytes / saltBytes {
		var salt [saltBytes]byte
		if err := dealer.next(&salt); err != nil {
			t.Fatal(err)
		}
		if want := byte(i % (saltPoolBytes / saltBytes)); salt[0] != want || salt[saltBytes-1] != want {
			t.Fatalf("salt %d is %x, want every byte %x", i, salt, want)
		}
	}
	if source.reads != 2 {
		t.Errorf("two buffers of salts took %d reads, want 2", source.reads)
	}
}
