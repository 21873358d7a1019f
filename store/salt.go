package store

import (
	"fmt"
	"io"
	"sync"

	"sluice/engine"
)

// saltPoolBytes is how much randomness is drawn at once: one read serves 256 rows.
const saltPoolBytes = 256 * saltBytes

// salts deals out salts from a buffered random source. It belongs to one goroutine.
type salts struct {
	source io.Reader
	pool   [saltPoolBytes]byte
	used   int
}

func newSalts(source io.Reader) *salts { return &salts{source: source, used: saltPoolBytes} }

// next fills dst. A salt is never dealt twice.
func (s *salts) next(dst *[saltBytes]byte) error {
	if s.used == saltPoolBytes {
		if _, err := io.ReadFull(s.source, s.pool[:]); err != nil {
			return fmt.Errorf("draw salts: %w", err)
		}
		s.used = 0
	}
	copy(dst[:], s.pool[s.used:s.used+saltBytes])
	clear(s.pool[s.used : s.used+saltBytes])
	s.used += saltBytes
	return nil
}

// salted is the half of a row's hashes that does not depend on its place in the
// log: its salt and data_hash (P27).
type salted struct {
	salt     [saltBytes]byte
	dataHash [hashBytes]byte
}

// salter salts facts before the writer sees them, so that the one goroutine
// everything waits for hashes chains and not data.
type salter struct {
	mutex  sync.Mutex
	salts  *salts
	hasher *hasher
}

func newSalter(source io.Reader) *salter {
	return &salter{salts: newSalts(source), hasher: newHasher()}
}

func (s *salter) salt(facts []engine.Fact) ([]salted, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := make([]salted, len(facts))
	for i := range all {
		if err := s.salts.next(&all[i].salt); err != nil {
			return nil, err
		}
		s.hasher.data(all[i].dataHash[:0], all[i].salt[:], storedData(&facts[i]))
	}
	return all, nil
}
