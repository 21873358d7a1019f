package model

// sketch reads an answer while it comes in and gives each element of plan.steps
// as soon as it is complete. What it gives is a look ahead: nothing runs from it,
// and whether the answer is any good is decided when it is whole.
type sketch struct {
	emit func(step []byte)

	stack   []level
	text    []byte // of the step under way
	key     []byte // of the string under way, while it is a key
	isKey   bool
	inside  bool // of a string
	escaped bool
	depth   int // of the step under way: the stack's height outside of it; 0: none
	count   int
	ended   bool
}

// level is one open object or array.
type level struct {
	array bool
	key   string // of the member under way
	want  bool   // an object that wants a key next
}

// Bounds of what is sketched; the whole answer is judged by its own.
const (
	sketchDepthMax = 64
	sketchBytesMax = 64 << 10
	sketchStepsMax = 500
	sketchKeyMax   = 64
)

// write takes the next piece.
func (s *sketch) write(piece string) {
	for i := 0; i < len(piece) && !s.ended; i++ {
		s.take(piece[i])
	}
}

func (s *sketch) take(c byte) {
	if s.depth > 0 {
		s.text = append(s.text, c)
		s.ended = len(s.text) > sketchBytesMax
	}
	switch {
	case s.inside:
		s.within(c)
	case len(s.stack) == 0 && c != '{': // a fence or a word before the object
	case c == '"':
		s.inside = true
		s.isKey = s.top().want
		s.key = s.key[:0]
	case c == '{' || c == '[':
		s.open(c == '[')
	case c == '}' || c == ']':
		s.close()
	case c == ',':
		s.top().want = !s.top().array
	}
}

// within takes one byte of a string.
func (s *sketch) within(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inside = false
		if s.isKey {
			s.top().key, s.top().want = string(s.key), false
		}
		return
	}
	if s.isKey && len(s.key) < sketchKeyMax {
		s.key = append(s.key, c)
	}
}

func (s *sketch) top() *level {
	if len(s.stack) == 0 {
		return &level{}
	}
	return &s.stack[len(s.stack)-1]
}

func (s *sketch) open(array bool) {
	if !array && s.depth == 0 && s.atSteps() {
		s.depth = len(s.stack)
		s.text = append(s.text[:0], '{')
	}
	s.stack = append(s.stack, level{array: array, want: !array})
	s.ended = s.ended || len(s.stack) > sketchDepthMax
}

// atSteps says that what opens now is an element of the list plan.steps.
func (s *sketch) atSteps() bool {
	return len(s.stack) == 3 && s.stack[2].array && s.stack[1].key == "steps" && s.stack[0].key == "plan"
}

func (s *sketch) close() {
	if len(s.stack) == 0 {
		return
	}
	s.stack = s.stack[:len(s.stack)-1]
	if s.depth > 0 && len(s.stack) == s.depth {
		s.emit(s.text)
		s.depth, s.text = 0, nil
		s.count++
		s.ended = s.ended || s.count >= sketchStepsMax
	}
	s.ended = s.ended || len(s.stack) == 0
}
