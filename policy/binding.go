package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// The hashes over a call start with different words, so that none can
// ever be taken for another.
const (
	bindingDomain = "sluice approval 1"
	grantDomain   = "sluice grant 1"
)

// hashBytesTypical sizes the buffer of a hash so that a call with a few short
// parameters needs no allocation; longer ones grow it.
const hashBytesTypical = 1024

// Binding is what an approval is given for (P21): SHA-256 over run, node, tool,
// canonical parameters, labels, idempotency key and expiry (µs UTC), as
// "sha256:" and hex. Every text is preceded by its length and every list by its
// count (8 bytes, big endian), so that no two calls share an encoding. Plan
// version, attempt, policy and the source pointers are recorded with the
// decision but not bound: a retry with the same key needs no new approval.
func Binding(c Call, expiresAt int64) string {
	b := make([]byte, 0, hashBytesTypical)
	b = appendText(b, bindingDomain)
	b = appendText(b, c.Run)
	b = appendText(b, c.Node)
	b = appendText(b, c.Tool.Name)
	b = appendParams(b, c.Params)
	b = appendText(b, c.Key)
	b = appendNumber(b, expiresAt)
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func appendParams(b []byte, given []Param) []byte {
	params := inOrder(given)
	b = appendNumber(b, int64(len(params)))
	for i := range params {
		b = appendText(b, params[i].Name)
		b = appendBytes(b, params[i].Value)
		b = appendLabels(b, params[i].Labels)
	}
	return b
}

// grantHash is over run, node, attempt, tool, canonical parameters and policy (P18).
func grantHash(c *Call, policy string) [sha256.Size]byte {
	b := make([]byte, 0, hashBytesTypical)
	b = appendText(b, grantDomain)
	b = appendText(b, c.Run)
	b = appendText(b, c.Node)
	b = appendNumber(b, int64(c.Attempt))
	b = appendText(b, c.Tool.Name)
	params := inOrder(c.Params)
	b = appendNumber(b, int64(len(params)))
	for i := range params {
		b = appendText(b, params[i].Name)
		b = appendBytes(b, params[i].Value)
	}
	b = appendText(b, policy)
	return sha256.Sum256(b)
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendText(b []byte, text string) []byte {
	return append(appendNumber(b, int64(len(text))), text...)
}

func appendBytes(b, value []byte) []byte {
	return append(appendNumber(b, int64(len(value))), value...)
}

// appendLabels writes a set: order and repetition do not count.
func appendLabels(b []byte, labels []Label) []byte {
	if !slices.IsSorted(labels) {
		labels = slices.Clone(labels)
		slices.Sort(labels)
	}
	distinct := int64(0)
	for i := range labels {
		if i == 0 || labels[i] != labels[i-1] {
			distinct++
		}
	}
	b = appendNumber(b, distinct)
	for i := range labels {
		if i == 0 || labels[i] != labels[i-1] {
			b = appendText(b, string(labels[i]))
		}
	}
	return b
}

func byName(a, b Param) int { return strings.Compare(a.Name, b.Name) }

// inOrder gives the parameters sorted by name; a caller's slice stays as it is.
func inOrder(params []Param) []Param {
	if slices.IsSortedFunc(params, byName) {
		return params
	}
	sorted := slices.Clone(params)
	slices.SortStableFunc(sorted, byName)
	return sorted
}
