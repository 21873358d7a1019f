package engine

// Refusal is the error of Step: the input was not accepted and nothing changed.
type Refusal struct {
	Code    string // conflict, invalid, not_found, denied, internal
	Message string // what is wrong
	Fix     string // what to do
	Who     string // conflict: who was first
	At      int64  // conflict: when, µs UTC
}

// Error implements error.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(code, message, fix string) error {
	return &Refusal{Code: code, Message: message, Fix: fix}
}
