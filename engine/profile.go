package engine

import "time"

// Profile holds a run's limits (P15). Waiting for people does not count as wall clock.
type Profile struct {
	Name        string `json:"name"`
	Steps       int64  `json:"steps"`
	ToolCalls   int64  `json:"tool_calls"`
	SideEffects int64  `json:"side_effects"`
	WallMS      int64  `json:"wall_clock_ms"` // executing
	Slots       int    `json:"slots"`         // attempts in flight (P31a)
}

// ProfileByName gives a shipped profile (P15).
func ProfileByName(name string) (Profile, bool) {
	switch name {
	case "", "default":
		return Profile{Name: "default", Steps: 500, ToolCalls: 1_000, SideEffects: 20,
			WallMS: time.Hour.Milliseconds(), Slots: 64}, true
	case "bench":
		return Profile{Name: "bench", Steps: 10_000, ToolCalls: 100_000, SideEffects: 10_000,
			WallMS: (24 * time.Hour).Milliseconds(), Slots: 256}, true
	}
	return Profile{}, false
}
