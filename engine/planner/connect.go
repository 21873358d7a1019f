package planner

import "slices"

// connect reads the clauses in order and gives each what it takes from the one
// before it: the verb, the polarity, the condition it stands under.
func connect(clauses []clause) []phrase {
	var out []phrase
	opens := false
	for _, c := range clauses {
		c.opens = c.opens || opens
		p := understand(c)
		if opens = c.opens; len(p.body) == 0 && !p.hasVerb && !p.condition {
			continue // nothing but "please"; the next clause opens the sentence
		}
		opens = false
		if n := len(out); n > 0 && !c.opens {
			p.inherit(out[n-1])
		}
		if n := len(out); n > 0 && out[n-1].wants(p) {
			out[n-1] = out[n-1].join(p)
			continue
		}
		out = append(out, p)
	}
	lendPlaces(out)
	swapLater(out)
	return frontConditions(out)
}

// frontConditions puts a condition before what it governs. At the end of a
// sentence ("list the processes if the load is over 4") that is the last verb
// with all its objects, and nothing after it.
func frontConditions(in []phrase) []phrase {
	out := make([]phrase, 0, len(in))
	for i, p := range in {
		isTrailing := p.condition && !p.opens && i > 0 && !in[i-1].condition && (!p.comma || i+1 == len(in) || in[i+1].opens)
		if !isTrailing || p.andBefore() && i+1 < len(in) && !in[i+1].opens {
			out = append(out, p)
			continue
		}
		from := len(out) - 1
		for from > 0 && out[from].inherited && !out[from].opens {
			from--
		}
		p.fresh, p.opens, out[from].opens = true, out[from].opens, false
		out = append(out, phrase{})
		copy(out[from+1:], out[from:])
		out[from] = p
		if i+1 < len(in) && !in[i+1].otherwise {
			in[i+1].fresh = true
		}
	}
	return out
}

// andBefore says whether "and" ties the condition to what comes after it: "read
// a.txt and if it is long, list docs".
func (p phrase) andBefore() bool { return len(p.tokens) > 0 && p.tokens[0].text == "and" }

// swapLater puts "before deleting a.txt, read it" into the order it asks for.
func swapLater(out []phrase) {
	for i := 0; i+1 < len(out); i++ {
		if out[i].later && out[i].opens && !out[i+1].opens {
			out[i], out[i+1] = out[i+1], out[i]
			out[i].opens, out[i+1].opens, out[i+1].then = true, false, true
			i++
		}
	}
}

// lendPlaces gives a search the place that its last term names: "search for foo
// and bar in src".
func lendPlaces(out []phrase) {
	for i := len(out) - 2; i >= 0; i-- {
		p, next := &out[i], out[i+1]
		if p.class != verbSearch || next.class != verbSearch || !next.inherited || hasPlace(*p) {
			continue
		}
		if from := placeStart(next); from >= 0 {
			p.body = append(append([]token{}, p.body...), next.body[from:]...)
		}
	}
}

func hasPlace(p phrase) bool { return placeStart(p) >= 0 }

// placeStart gives where a preposition with a place begins, or -1.
func placeStart(p phrase) int {
	for i, t := range p.body {
		if next := at(p.body, i+1); i > 0 && placeWords[t.text] && (next.kind == pathish || folders[next.stem] || determiners[next.text]) {
			return i
		}
	}
	return -1
}

// inherit takes the verb and the polarity over from the clause before.
func (p *phrase) inherit(before phrase) {
	if p.hasVerb && !p.unknownInList(before) {
		return
	}
	if p.condition {
		return
	}
	if before.condition {
		p.condition = p.joint == jointAnd || p.joint == jointOr // "if a and b, …": b belongs to the condition
		return
	}
	p.inherited, p.hasVerb, p.then = true, before.hasVerb, p.then || before.then
	p.class, p.verb, p.question = before.class, before.verb, before.question
	if before.negated && !p.positive && !p.colon && !read(*p).suffices() {
		p.negated = true
	}
	if p.joint == jointBut && before.negated {
		p.negated = false
	}
}

// suffices reads "memory will do" and "the ports are enough".
func (r *reading) suffices() bool {
	return r.text("enough", "suffices", "suffice") || r.text("will") && r.text("do")
}

// unknownInList lets an unknown word be one more thing to search for: "search
// for foo and bar in src".
func (p *phrase) unknownInList(before phrase) bool {
	if before.class != verbSearch || p.class != verbOther || known(p.verb.text) || p.verb.kind != word {
		return false
	}
	p.body = append([]token{p.verb}, p.body...)
	return true
}

// wants says whether a clause is not whole without the next one: a write that
// has named no file yet goes on ("write the kernel version and the uptime to
// a.txt"), and so does a place before its verb ("in src, search for x").
func (p phrase) wants(next phrase) bool {
	if p.negated || p.condition || next.negated || next.condition || next.opens || next.joint == jointThen {
		return false
	}
	if !p.hasVerb && p.isPlaceOnly() && next.hasVerb && !next.inherited {
		return true
	}
	if !next.inherited {
		return false
	}
	switch p.class {
	case verbWrite:
		return !namesTargetAndText(next)
	case verbOther, verbPatch, verbCompute, verbRun:
		return true
	}
	return false
}

// namesTargetAndText says whether a clause is a write of its own: "and b.txt with
// "y"" after "write a.txt with "x"".
func namesTargetAndText(p phrase) bool {
	r := read(p)
	isQuoted := slices.ContainsFunc(p.body, func(t token) bool { return t.kind == quoted })
	return len(r.files()) == 1 && isQuoted
}

// isPlaceOnly says whether the phrase is nothing but "in src".
func (p phrase) isPlaceOnly() bool {
	if len(p.body) < 2 || len(p.body) > 4 || !placeWords[p.body[0].text] {
		return false
	}
	last := p.body[len(p.body)-1]
	return last.kind == pathish || last.kind == word && (folders[last.stem] || last.stem == "directory" || workspaceWords[last.stem])
}

// join makes one phrase of two.
func (p phrase) join(next phrase) phrase {
	if !p.hasVerb {
		body := p.body
		next.start, next.tokens, next.opens = p.start, append(append([]token{}, p.tokens...), next.tokens...), p.opens
		next.body = append(append([]token{}, next.body...), body...)
		return next
	}
	p.end = next.end
	p.tokens = append(append([]token{}, p.tokens...), next.tokens...)
	p.body = append(append([]token{}, p.body...), next.tokens...)
	return p
}

// withoutStatements drops sentences that only say how things are ("my disk is
// full.") when something else is asked for: they are its reason.
func withoutStatements(in []phrase) []phrase {
	asks := slices.ContainsFunc(in, func(p phrase) bool { return p.hasVerb && !p.negated && !p.condition && !p.states() })
	if !asks {
		return in
	}
	return slices.DeleteFunc(in, phrase.states)
}

// states says whether a phrase is such a sentence.
func (p phrase) states() bool {
	if p.hasVerb || p.inherited || p.negated || p.condition || len(p.body) < 3 {
		return false
	}
	switch p.body[0].text {
	case "my", "the", "our", "this", "these", "your", "it", "that":
	default:
		return false
	}
	return slices.ContainsFunc(p.body[1:], func(t token) bool { return finite[t.text] })
}

// finite are the verbs by which things are said to be so.
var finite = map[string]bool{"is": true, "are": true, "was": true, "were": true, "feels": true, "seems": true, "looks": true, "keeps": true, "got": true,
	"gets": true, "has": true, "have": true, "feel": true, "seem": true}
