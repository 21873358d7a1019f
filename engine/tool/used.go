package tool

import "sync"

// UsedGrantsMax bounds how many used grants one generation remembers. A used
// grant is refused for at least this many further opens; the memory held is at
// most two generations of 16 bytes each plus the map's own cost.
const UsedGrantsMax = 1 << 20

// usedGrants remembers which grants were opened (P18: a grant is single-use).
// It keeps two generations and drops the older one when the newer is full, so
// it never forgets a recent grant and never grows without bound.
type usedGrants struct {
	mu      sync.Mutex
	max     int
	current map[grantKey]struct{}
	older   map[grantKey]struct{}
}

// grantKey is the first half of a grant's hash: two grants that share it would
// only ever be refused, never confused for a permission.
type grantKey [16]byte

func newUsedGrants(generationMax int) *usedGrants {
	return &usedGrants{max: generationMax, current: map[grantKey]struct{}{}}
}

// take marks a grant as used and says whether it was unused until now.
func (u *usedGrants) take(id [32]byte) bool {
	key := grantKey(id[:16])
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, found := u.current[key]; found {
		return false
	}
	if _, found := u.older[key]; found {
		return false
	}
	if len(u.current) >= u.max {
		u.older, u.current = u.current, map[grantKey]struct{}{}
	}
	u.current[key] = struct{}{}
	return true
}
