package store

import (
	"fmt"
	"io"
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
