package policy

import "strconv"

// Rank orders impacts and intents on one scale (R45, R46, requirements §23.5).
// The three named ranks leave room between them.
type Rank int

// The named ranks of the intent registry (P16).
const (
	Observe  Rank = 0
	Operate  Rank = 100
	Override Rank = 200

	// RankMax is the top of the scale: documents name ranks between Observe and
	// RankMax, and an unknown impact ranks here.
	RankMax = Override
)

// Name gives the registry name of a rank, or its number where it has none.
func (r Rank) Name() string {
	switch r {
	case Observe:
		return "observe"
	case Operate:
		return "operate"
	case Override:
		return "override"
	}
	return strconv.Itoa(int(r))
}
