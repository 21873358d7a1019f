package store

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

// secretBytes is the entropy of a link, a token or an id.
const (
	secretBytes = 32
	idBytes     = 9
)

// newSecret draws n random bytes in a form that fits URLs and headers.
func (s *Store) newSecret(n int) (string, error) {
	random := make([]byte, n)
	if _, err := io.ReadFull(s.random, random); err != nil {
		return "", fmt.Errorf("draw secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(random), nil
}

// secretHash is what is kept of a secret. Secrets are random and long: a plain
// hash has nothing to guess.
func secretHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
