package policy

import "crypto/sha256"

// Grant is the permission for one call, once (P18). Only Authorise makes one:
// it has no exported field and no way to be read from data, and its zero value
// is not valid.
type Grant struct {
	id       [sha256.Size]byte
	policy   string
	isMinted bool
}

func mint(c *Call, policy string) Grant {
	return Grant{id: grantHash(c, policy), policy: policy, isMinted: true}
}

// Valid is false for a Grant that Authorise did not mint.
func (g Grant) Valid() bool { return g.isMinted }

// ID is the hash of run, node, attempt, tool, canonical parameters and policy:
// whoever opens tools remembers it to refuse a second use.
func (g Grant) ID() [32]byte { return g.id }

// Covers says whether the grant was minted for exactly this call.
func (g Grant) Covers(c Call) bool {
	return g.isMinted && g.id == grantHash(&c, g.policy)
}
