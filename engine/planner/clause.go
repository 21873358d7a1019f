package planner

import "slices"

// clause is one part of a goal that may ask for something. Clauses cover the
// goal without a gap: what separates two belongs to the later one.
type clause struct {
	tokens     []token
	start, end int
	opens      bool // it begins a sentence
	comma      bool // a comma stood before it
	colon      bool // a colon stood before it
	joint      joint
}

// joint is the word that ties a clause to the one before it.
type joint int

const (
	jointNone joint = iota
	jointAnd
	jointThen  // order is asked for
	jointOr    // or, nor
	jointBut   // but
	jointNot   // without, except, instead of, but not
	jointIf    // if, when: what follows is a condition
	jointElse  // otherwise
	jointAfter // before: what follows happens later than what came before
)

// joiners are the words that may open a clause in the middle of a sentence.
var joiners = map[string]joint{
	"and": jointAnd, "&": jointAnd, "+": jointAnd, "plus": jointAnd, "then": jointThen, "or": jointOr, "nor": jointOr, "but": jointBut,
	"while": jointAnd, "afterwards": jointThen, "afterward": jointThen, "except": jointNot, "excluding": jointNot, "without": jointNot,
	"instead": jointNot, "rather": jointNot, "if": jointIf, "unless": jointIf, "when": jointIf, "otherwise": jointElse, "else": jointElse,
	"before": jointAfter, "whereas": jointAnd, "yet": jointBut, "provided": jointIf, "however": jointBut, "finally": jointThen,
	"once": jointIf, "not": jointNot, "because": jointBut, "since": jointBut, "although": jointBut, "so": jointBut, "minus": jointNot,
	"also": jointAnd, "followed": jointThen, "next": jointThen, "lastly": jointThen,
}

// splitClauses cuts a goal at sentence ends, commas and joining words. Nothing
// inside a token is ever cut.
func splitClauses(goal string, tokens []token) []clause {
	s := splitter{tokens: tokens}
	for i := range tokens {
		s.read(i)
	}
	s.close(len(tokens))
	clauses := s.out
	for i := range clauses {
		clauses[i].start, clauses[i].end = 0, len(goal)
		if i > 0 {
			clauses[i].start = clauses[i].tokens[0].start
			clauses[i-1].end = clauses[i].start
		}
	}
	return clauses
}

// splitter walks over the tokens and closes a clause at every boundary.
type splitter struct {
	tokens []token
	out    []clause
	first  int // where the open clause begins
	next   clause
	data   bool // the rest of the line is text for the verb before a colon
}

// read decides whether the token at i ends the open clause.
func (s *splitter) read(i int) {
	t := s.tokens[i]
	if t.kind == mark {
		s.readMark(i)
		return
	}
	if t.kind != word || s.data {
		return
	}
	if s.startsAction(i) {
		s.close(i)
		s.next.comma = true
		return
	}
	kind, joins := joiners[t.text]
	if !joins || !s.joinsHere(i, kind) {
		return
	}
	if i > s.first && slices.ContainsFunc(s.tokens[s.first:i], hasContent) {
		comma := s.tokens[i-1].raw == ","
		s.close(i)
		s.next.comma = comma
	}
	if t.text == "but" && allWords[s.at(i-1).text] {
		kind = jointNot // "everything but the disks"
	}
	s.next.joint = stronger(s.next.joint, kind)
}

var allWords = map[string]bool{"everything": true, "all": true, "anything": true, "anyone": true}

// startsAction says whether a condition without a comma ends here, at the verb
// of what it governs: "if the load is above 2 show me the processes".
func (s *splitter) startsAction(i int) bool {
	if i-s.first < 4 || !opensCondition(s.tokens[s.first:i]) {
		return false
	}
	before := s.tokens[i-1]
	if before.kind == mark || determiners[before.text] || placeWords[before.text] || before.text == "and" || before.text == "to" ||
		before.text == "is" || before.text == "are" || before.text == "was" || before.text == "not" {
		return false
	}
	switch classOf(s.tokens[i]) {
	case verbList, verbRead, verbDelete, verbWrite, verbSearch:
	case verbShow:
		return s.tokens[i].text == "show" || s.tokens[i].text == "tell" || s.tokens[i].text == "check" || s.tokens[i].text == "print" || s.tokens[i].text == "give"
	default:
		return false
	}
	return before.kind == number || before.stem == "percent" || !nounLike[s.tokens[i].text]
}

var nounLike = map[string]bool{"list": true, "record": true, "store": true, "place": true, "count": true, "head": true, "tail": true, "note": true,
	"export": true, "dump": true, "document": true, "search": true, "trash": true, "catalogue": true, "catalog": true}

func opensCondition(tokens []token) bool {
	first := tokens[0].text
	if particles[first] || first == "and" || first == "but" {
		first = tokens[1].text
	}
	return joiners[first] == jointIf || first == "whenever"
}

// stronger keeps the joint that says more: "and then" is then, "but not" is not.
func stronger(a, b joint) joint {
	if a == jointNone || a == jointAnd || a == jointBut && b != jointAnd {
		return b
	}
	return a
}

// hasContent says whether a token can carry a clause; joining words and mere
// particles cannot.
func hasContent(t token) bool {
	_, joins := joiners[t.text]
	return t.kind != mark && (t.kind != word || !joins && !particles[t.text])
}

var particles = map[string]bool{"only": true, "just": true, "even": true, "please": true, "except": true, "especially": true}

func (s *splitter) readMark(i int) {
	switch s.tokens[i].raw {
	case "\n", ".", "?", "!", ";", "…":
		if s.data && s.tokens[i].raw != "\n" {
			return
		}
		s.data = false
		s.close(i + 1)
		s.next.opens = true
	case "&":
		if !s.data && !s.inCommandLine() && s.openHasContent(i) {
			s.close(i)
			s.next.joint = jointAnd
		}
	case ",", "(", ")", "—", "–", "-", "|", ">", "<", "[", "]", "{", "}":
		if !s.data && !s.inCommand(i) && s.openHasContent(i) {
			s.close(i + 1)
			s.next.comma = true
		}
	case ":":
		if s.takesData(i) {
			s.data = true
		} else if s.openHasContent(i) {
			s.close(i + 1)
			s.next.colon = true
		}
	}
}

func (s *splitter) openHasContent(i int) bool {
	return slices.ContainsFunc(s.tokens[s.first:i], hasContent)
}

// inCommand keeps the shell's own marks inside a command that is to be run, so
// that the whole of it is judged.
func (s *splitter) inCommand(i int) bool {
	raw := s.tokens[i].raw
	if raw != "|" && raw != ">" && raw != "<" {
		return false
	}
	_, joins := joiners[s.tokens[s.first].text]
	return !joins
}

// inCommandLine says whether the open clause is a command, in which "&&" ties
// what may not be torn apart.
func (s *splitter) inCommandLine() bool {
	for _, t := range s.tokens[s.first:] {
		if t.kind != word {
			continue
		}
		_, is := commandVerbs[t.raw]
		if class := classOf(t); is || class == verbRun {
			return true
		} else if class != verbNone {
			return false
		}
	}
	return false
}

// takesData says whether what follows a colon is text for the verb before it:
// the words to write, send or translate. After "check the following:" it is not.
func (s *splitter) takesData(colon int) bool {
	for _, t := range s.tokens[s.first:colon] {
		if t.kind != word {
			continue
		}
		switch classOf(t) {
		case verbWrite, verbOther, verbPatch, verbRun:
			return true
		case verbShow, verbList, verbRead, verbSearch, verbDelete, verbCompare, verbCompute:
			return false
		}
	}
	return false
}

// joinsHere tells a joining word from the same word in another part.
func (s *splitter) joinsHere(i int, kind joint) bool {
	before, after := s.at(i-1), s.at(i+1)
	switch s.tokens[i].text {
	case "and", "or":
		return before.kind != number || after.kind != number
	case "not":
		return s.notJoins(i)
	case "if", "when":
		return !asksWhether(s.tokens[s.first:i]) && !openQuestion(s.tokens[i], after)
	case "before":
		return gerundOf(after) != verbNone || after.text == "you" || after.text == "that"
	case "instead", "rather":
		return after.text == "of" || after.text == "than"
	case "followed":
		return after.text == "by"
	case "since", "once", "so", "yet", "next", "finally", "lastly", "also", "because", "although", "however", "provided":
		return i == s.first || before.kind == mark || before.text == "and" || before.text == "but"
	case "while", "else", "otherwise":
		return i == s.first || before.kind == mark || before.text != "anything" && before.text != "something" && before.text != "what"
	case "without":
		return after.text != "extension" && after.text != "extensions"
	}
	return true
}

// notJoins says whether "not" sets something aside ("the memory, not the
// disks") rather than belonging to a question ("which are not clean").
func (s *splitter) notJoins(i int) bool {
	before, after := s.at(i-1), s.at(i+1)
	if after.text == "only" || after.text == "just" || after.text == "more" || after.text == "less" || after.text == "yet" {
		return false
	}
	if i == s.first || before.kind == mark || before.text == "but" || before.text == "and" {
		return true
	}
	return after.text == "the" || after.text == "any" || after.text == "its" || after.text == "their"
}

func (s *splitter) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{kind: mark}
	}
	return s.tokens[i]
}

// asksWhether says whether "if" after these words opens an indirect question.
func asksWhether(before []token) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i].text {
		case "me", "us", "out", "for", "quickly", "please", "sure":
			continue
		case "check", "see", "tell", "know", "find", "verify", "determine", "look", "test", "wonder", "wondering", "confirm", "ask",
			"checking", "say", "sure2", "report", "whether", "unsure", "curious", "ensure", "learn", "idea":
			return true
		}
		return false
	}
	return false
}

// openQuestion says whether "when" asks for a time.
func openQuestion(t, after token) bool {
	if t.text != "when" {
		return false
	}
	switch after.text {
	case "was", "did", "were", "has", "have":
		return true
	}
	return false
}

// close ends the open clause before the token at end and opens the next one.
func (s *splitter) close(end int) {
	if end > s.first {
		c := s.next
		c.tokens = s.tokens[s.first:end]
		c.opens = c.opens || len(s.out) == 0
		s.out = append(s.out, c)
		s.next = clause{}
	}
	s.first = end
}
