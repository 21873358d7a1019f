package engine

import (
	"encoding/binary"

	"sluice/policy"
)

// packer appends values, and reads them back in the same order. A read beyond
// the end marks it bad and gives zero values from then on.
type packer struct {
	b   []byte
	bad bool
}

func (p *packer) int(v int64) { p.b = binary.AppendVarint(p.b, v) }

func (p *packer) bytes(v []byte) {
	p.int(int64(len(v)))
	p.b = append(p.b, v...)
}

func (p *packer) str(v string) {
	p.int(int64(len(v)))
	p.b = append(p.b, v...)
}

func (p *packer) bool(v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	p.int(n)
}

func (p *packer) strs(v []string) {
	p.int(int64(len(v)))
	for _, s := range v {
		p.str(s)
	}
}

func (p *packer) readInt(v *int64) {
	n, size := binary.Varint(p.b)
	if size <= 0 {
		p.bad, p.b, *v = true, nil, 0
		return
	}
	*v, p.b = n, p.b[size:]
}

func (p *packer) readN(v *int) {
	var n int64
	p.readInt(&n)
	*v = int(n)
}

func (p *packer) readBool() bool {
	var n int64
	p.readInt(&n)
	return n != 0
}

// readLen is a length that what is left can hold: damage cannot make it large.
func (p *packer) readLen() int {
	var n int64
	p.readInt(&n)
	if n < 0 || n > int64(len(p.b)) {
		p.bad = true
		return 0
	}
	return int(n)
}

// readBytes gives nil for nothing: no folded value tells the two apart.
func (p *packer) readBytes(v *[]byte) {
	n := p.readLen()
	*v = nil
	if n > 0 {
		*v = append([]byte(nil), p.b[:n]...)
		p.b = p.b[n:]
	}
}

func (p *packer) readStr(v *string) {
	n := p.readLen()
	*v, p.b = string(p.b[:n]), p.b[n:]
}

func (p *packer) readStrs(v *[]string) {
	*v = nil
	for range p.readLen() {
		var s string
		p.readStr(&s)
		*v = append(*v, s)
	}
}

func (p *packer) readRank(v *policy.Rank) {
	var n int64
	p.readInt(&n)
	*v = policy.Rank(n)
}
