package policy

// Effect is what a tool declares about repeating a call (design §5, §8).
type Effect string

// The closed set of effects.
const (
	Read       Effect = "read"       // may run again at will
	Idempotent Effect = "idempotent" // may run again under the same key
	Once       Effect = "once"       // never runs again on its own
)

// Tool is what the gate knows of a tool: nothing here lets anybody call it.
type Tool struct {
	Name     string
	Effect   Effect
	External bool // acts on people or systems outside: ranks with override (requirements §23.6)
	Pure     bool // a transform: no effects, no network, no model (P11)
	Impact   Rank // declared impact; the highest the tool can have when ImpactOf is set
	// ImpactOf ranks one set of resolved parameters. nil means Impact always holds.
	// A false second value means the impact is unknown and counts as RankMax (R46).
	ImpactOf func(params []Param) (Rank, bool)
	Sinks    []string // parameter names where a value leaves or changes something
}
