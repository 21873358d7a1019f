package planner

import "strings"

// compound verbs mean something else than their first word.
var compounds = []struct {
	class verbClass
	forms [][]string
}{
	{verbSearch, sequences(`look for|search for|scan for|hunt for|search through|look through|look up`)},
	{verbShow, sequences(`look at|look into|take a look at|have a look at|find out|figure out|let me know|let us know|let me see|bring up|pull up|print out|
		look over|keep me posted on|fill me in on|get me|work out which|check on|check up on|check in on|check what|check which|check how|check if|
		check whether|write me|run through|go over|go through|tell me|tell us|tell which|tell what|tell how|tell whether|tell if|report on|report back|
		report back on|point out|have you got|take stock of|take the list of|take a list of|run a check of|run a check on|run a report on|do a check of|do a check on|
		give me the lowdown on|spit out|read out`)},
	{verbList, sequences(`make a list of|give me a list of|give a list of|list out|list up|show a list of|show me a list of`)},
	{verbDelete, sequences(`get rid of|dispose of|throw away|throw out|do away with|chuck out`)},
	{verbWrite, sequences(`write down|jot down|note down|put down|write out|make a file|make me a file`)},
	{verbCompute, sequences(`add up|sum up the numbers|work out|count up|add together`)},
	{verbDigest, sequences(`sum up|boil down|give me a summary of|give me the gist of`)},
	{verbOther, sequences(`check out|free up|clean up|clear up|back up|set up|log in|log out|log into|sign in|sign up|sign out|turn on|turn off|
		switch on|switch off|shut down|start up|open a|open an|open up a|read aloud|read between|read me|read my|read us|go to|count on|
		search the web|search the internet|search online|find a|find an|find me a|find me an|find my|find us a|look after|make a call|make me a|
		make a|put on|put off|run out to|run for|run away|save me|save us|save money|show off|give up|give away|give back|get up|get lost|
		write code|write a poem|write a letter to|write to|check in|check into|print on|print to|keep in touch`)},
}

// classOf gives the class of a word as an imperative, verbNone where it is none.
// An inflected form ("mounted disks", "commits") is no imperative.
func classOf(t token) verbClass {
	if t.kind != word || strings.HasSuffix(t.text, "ed") && t.text != "need" && t.text != "read" && t.text != "feed" && t.text != "embed" {
		return verbNone
	}
	if strings.HasSuffix(t.text, "ing") && len(t.text) > 5 || strings.HasSuffix(t.text, "s") && t.stem != t.text && t.text != "ls" {
		return verbNone
	}
	return gerundOf(t)
}

// gerundOf is classOf for any inflection.
func gerundOf(t token) verbClass {
	if t.kind != word {
		return verbNone
	}
	for _, group := range verbsOf {
		if group.verbs[t.stem] {
			return group.class
		}
	}
	return verbNone
}

// readVerb finds the verb of a phrase and leaves the body.
func (p *phrase) readVerb(rest []token) {
	rest = p.readAdjunct(rest)
	if len(rest) == 0 {
		return
	}
	head := rest[0]
	if head.kind == word && questionWords[head.stem] {
		p.question, p.hasVerb, p.class = true, true, verbShow
		p.body = append(p.body, rest...)
		return
	}
	for _, group := range compounds {
		if n := leads(rest, group.forms); n > 0 && !excused(group.class, rest, n) {
			p.take(group.class, rest, n)
			return
		}
	}
	class := classOf(head)
	if p.later || p.negated || p.gerund {
		class = gerundOf(head)
	}
	if class != verbNone && !p.actsAsNoun(rest) {
		p.take(class, rest, 1)
		return
	}
	if head.kind == word && !known(head.text) && !p.negated {
		p.take(verbOther, rest, 1)
		return
	}
	p.body = append(p.body, rest...)
}

// take notes the verb of n tokens and puts the rest into the body.
func (p *phrase) take(class verbClass, rest []token, n int) {
	p.class, p.verb, p.hasVerb = class, rest[0], true
	p.negated = p.negated || class == verbLeave
	p.body = append(p.body, rest[n:]...)
	p.question = class == verbShow && (asksWords[rest[n-1].text] || asksWords[at(rest, n).text] ||
		asksWords[at(rest, n+1).text] && (at(rest, n).text == "me" || at(rest, n).text == "us"))
}

// asksWords open an indirect question: "tell me which", "check what".
var asksWords = map[string]bool{"what": true, "which": true, "how": true, "where": true, "who": true, "whether": true, "whats": true, "whos": true}

// excused lets a compound of verbOther go where it is harmless after all:
// "find a git repository", "read my notes.txt".
func excused(class verbClass, rest []token, n int) bool {
	if class != verbOther || n < 2 || rest[1].text == "aloud" || rest[1].text == "between" {
		return false
	}
	for _, t := range rest[n:] {
		isFile := t.kind == pathish || t.kind == quoted && rest[0].text == "write"
		switch rest[0].text {
		case "open", "read", "make", "write", "save":
			if isFile {
				return true
			}
		case "find":
			if isFile || t.stem == "file" || t.stem == "repository" || t.stem == "process" {
				return true
			}
		}
	}
	return false
}

// readAdjunct steps over a place before the verb ("in src search for x") and
// keeps it in the body.
func (p *phrase) readAdjunct(rest []token) []token {
	if len(rest) < 3 || !placeWords[rest[0].text] {
		return rest
	}
	i := 1
	for i < len(rest) && (determiners[rest[i].text] || rest[i].stem == "file" || rest[i].stem == "directory") {
		i++
	}
	if i+1 >= len(rest) || classOf(rest[i+1]) == verbNone && !questionWords[rest[i+1].stem] {
		return rest
	}
	if rest[i].kind != pathish && !folders[rest[i].stem] && rest[i].kind != quoted {
		return rest
	}
	p.body = append(p.body, rest[:i+1]...)
	return rest[i+1:]
}

// placeWords are prepositions before a place.
var placeWords = map[string]bool{"in": true, "inside": true, "under": true, "below": true, "within": true, "from": true, "beneath": true,
	"underneath": true, "throughout": true, "across": true, "into": true, "at": true, "on": true, "of": true, "to": true}

var determiners = map[string]bool{"the": true, "a": true, "an": true, "my": true, "our": true, "your": true, "all": true, "any": true,
	"this": true, "that": true, "these": true, "those": true, "its": true, "their": true, "some": true, "every": true, "each": true}

// actsAsNoun says whether a word that could be a verb is a noun or an adjective
// here: "list of open ports", "open ports", "free memory", "mount points".
func (p *phrase) actsAsNoun(rest []token) bool {
	next := at(rest, 1)
	switch rest[0].text {
	case "list", "report", "count", "record", "log", "name", "state", "summary", "note", "search", "copy", "total", "average", "sum", "number",
		"audit", "review", "outline", "schedule", "order":
		return next.text == "of" || next.text == "about" && rest[0].text != "report"
	case "open":
		return next.kind == word && openThings[next.stem] && at(rest, 2).kind != number
	case "free":
		return next.text != "up" && next.kind == word && freeThings[next.stem]
	case "mount":
		return next.stem == "point" || len(rest) == 1
	case "commit":
		return commitNouns[next.stem] || len(rest) == 1 && !p.opens
	case "swap", "load", "boot", "process", "link", "route", "use":
		return next.kind == word && !determiners[next.text] && !fillers[next.stem] || len(rest) == 1
	case "git":
		return true
	}
	return len(rest) == 1 && !p.opens && nounsAlone[rest[0].stem]
}

var (
	openThings  = wordSet("port socket connection tcp udp network listening file")
	freeThings  = wordSet("memory ram space disk swap storage inode cpu")
	commitNouns = wordSet("history log message count list author hash id")
	nounsAlone  = wordSet("log commit branch load status")
)
