package planner

import "strings"

// phrase is a clause as it is understood: its polarity, its verb, its body.
type phrase struct {
	clause
	body      []token // without joints, fillers before the verb, and the verb
	verb      token
	class     verbClass
	question  bool
	negated   bool
	condition bool // if …
	unless    bool // the condition is negated
	otherwise bool // the other branch of the condition before
	inherited bool // the verb is that of the clause before
	then      bool // order is asked for
	later     bool // "before …": happens after the clause before it
	hasVerb   bool // it states a verb or a question of its own, known or not
	fresh     bool // no condition before it holds for it
	gerund    bool // "after reading a.txt": the verb is inflected
	positive  bool // "just", "only" or "but" end a negation before it
}

// leadIns are skipped before the verb, the longest first.
var leadIns = sequences(`can you please|could you please|can you|could you|would you|will you|can we|could we|i want you to|i would like you to|
	id like you to|i need you to|i want to|i would like to|id like to|i need to|i would like|id like|i want|i need|we want to|we need to|we want|
	we need|i just want to|i only want to|i just want|i just need to|i just need|i only want|i only need|lets|let us|let me|you should|you can|
	you could|you may|you must|please|pls|plz|kindly|just|only|simply|quickly|now|first of all|first off|first|firstly|second|secondly|
	third|thirdly|next|finally|lastly|afterwards|afterward|after that|after which|then|also|too|hey|hi|hello|ok|okay|so|well|um|uh|hmm|
	maybe|perhaps|would you mind|do me a favor and|do me a favour and|i wonder|im wondering|i was wondering|any chance you can|
	any chance you could|make sure to|make sure you|make sure that you|be so kind as to|be so kind and|help me to|help me|try to|want to know|
	i want to know|id love to know|id love to|im curious about|im curious|im interested in|curious about|curious|go ahead and|go ahead|go and|go|
	dont forget to|do not forget to|remember to|why dont you|why not|is it possible to|it would be great if you could|it would be nice if you could|
	we should|i should|do you know|do you happen to know|any idea|no idea|i have no idea|i dont know|i dont remember|i do not know|im not sure|not sure|
	i am not sure|i forgot|id be interested in|what i want is|what i need is|all i want is|all i need is|i am interested in|ive been wondering|
	quick question|question|in addition|additionally|furthermore|moreover|as well|as well as|followed by|feel free to|and|but|or|plus|while|
	while youre at it|while you are at it|at the same time|meanwhile|afterwards please|please also|do|did|i am curious about|i am curious|
	wanna know|need to know|gotta know|wanna see|i wanna see|i wanna know|gotta|need to|want to|have to|i have to|would be good to|
	it would be good to know|good to know|once more|to begin with|to start with|to start|for starters|step one|step two|step 1|step 2|step 3|
	last but not least|by the way|btw|one more thing|and finally|also please|otherwise|else|yet|however|because|although|instead|i am worried about|
	im worried about|worried about|i am concerned about|im concerned about|i suspect|i think|i believe|im afraid|what about|how about|start by|
	begin by|finish by|end by|start with|begin with|finish with|end with|continue with|continue by|conclude by|conclude with|follow up with|
	proceed to|proceed with|follow up by|firstly please`)

// denials before a verb turn it into the opposite.
var denials = sequences(`dont|do not|never|no need to|no|not|without|except for|except|excluding|instead of|rather than|nor|neither|you must not|
	you should not|you shouldnt|you mustnt|must not|mustnt|should not|shouldnt|you may not|may not|i dont want you to|i dont want to|i dont want|
	i do not want you to|i do not want to|i do not want|i dont need to|i dont need|i do not need|we dont want|we dont need|i wouldnt like|
	no need for|there is no need to|theres no need to|there is no need for|under no circumstances|by no means|in no case|dont you dare|
	i dont care about|i do not care about|not interested in|im not interested in|i am not interested in|apart from|aside from|other than|minus|
	refrain from|stop short of|abstain from|please dont|please do not|you neednt|neednt|need not|i no longer need|we no longer need|i have no use for|cannot|you cant|cant|wont`)

// conditions open the part of a sentence that must hold.
var conditions = sequences(`only if|if|unless|when|whenever|in case|provided that|provided|as long as|only when|once|should`)

// sequences splits a list of phrases and puts the longest first.
func sequences(list string) [][]string {
	var out [][]string
	for _, part := range strings.Split(list, "|") {
		out = append(out, strings.Fields(part))
	}
	sortByLength(out)
	return out
}

func sortByLength(list [][]string) {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && len(list[j]) > len(list[j-1]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// leads gives how many tokens of one of the sequences open the tokens, or 0.
func leads(tokens []token, list [][]string) int {
	for _, seq := range list {
		if startsWith(tokens, seq) {
			return len(seq)
		}
	}
	return 0
}

func startsWith(tokens []token, seq []string) bool {
	if len(tokens) < len(seq) {
		return false
	}
	for i, w := range seq {
		if tokens[i].kind != word || tokens[i].text != w {
			return false
		}
	}
	return true
}

// understand reads a clause. What it cannot say alone (a verb taken over from
// the clause before) is left to inherit.
func understand(c clause) phrase {
	p := phrase{clause: c, then: c.joint == jointThen, later: c.joint == jointAfter, otherwise: c.joint == jointElse}
	p.negated = c.joint == jointNot
	rest := withoutMarks(c.tokens)
	rest = p.readLead(rest)
	p.readVerb(rest)
	return p
}

// withoutMarks drops punctuation, which has done its work in splitting, except
// the marks that make a command more than one.
func withoutMarks(tokens []token) []token {
	var out []token
	for _, t := range tokens {
		if t.kind != mark || t.raw == "|" || t.raw == ">" || t.raw == "<" || t.raw == ":" || t.raw == "$" {
			out = append(out, t)
		}
	}
	return out
}

// readLead takes off what stands before the verb and notes what it says.
func (p *phrase) readLead(rest []token) []token {
	for len(rest) > 0 {
		if n := leads(rest, leadIns); n > 0 && !p.isContent(rest, n) {
			p.noteOrder(rest[:n])
			p.gerund = p.gerund || rest[n-1].text == "by" || rest[n-1].text == "with"
			rest = rest[n:]
			continue
		}
		if n := leads(rest, denials); n > 0 {
			p.negated = true
			rest = rest[n:]
			continue
		}
		if n := leads(rest, conditions); n > 0 && n < len(rest) && !openQuestion(rest[0], at(rest, 1)) && (rest[0].text != "once" || p.joint == jointIf) {
			p.condition, p.unless = true, p.unless || rest[0].text == "unless"
			rest = rest[n:]
			continue
		}
		if n := gerundLead(rest); n > 0 {
			p.gerund = true
			rest = rest[n:]
			continue
		}
		if rest[0].kind == mark {
			rest = rest[1:]
			continue
		}
		break
	}
	return rest
}

// gerundLead gives how many tokens stand before the verb in "after reading a.txt"
// and "before you delete it", or 0.
func gerundLead(rest []token) int {
	if rest[0].text != "after" && rest[0].text != "before" {
		return 0
	}
	n := 1
	for at(rest, n).text == "you" || at(rest, n).text == "we" || at(rest, n).text == "that" || at(rest, n).text == "have" || at(rest, n).text == "youve" {
		n++
	}
	if gerundOf(at(rest, n)) == verbNone {
		return 0
	}
	return n
}

// isContent keeps a lead-in that is in truth part of what is asked: "first 10
// lines of a.txt", "next" alone.
func (p *phrase) isContent(rest []token, n int) bool {
	next := at(rest, n)
	switch rest[0].text {
	case "first", "last", "second", "third":
		return n == 1 && (next.kind == number || numberWords[next.text] > 0 || next.stem == "line" || next.text == "one" || next.stem == "file")
	case "do", "did":
		return n == 1 && (next.text == "what" || next.text == "we" || next.text == "i" || next.text == "you" || next.text == "any" || next.text == "they")
	case "instead":
		return next.text == "of"
	case "so":
		return next.text == "that"
	}
	return false
}

func (p *phrase) noteOrder(lead []token) {
	for _, t := range lead {
		switch t.text {
		case "then", "afterwards", "afterward", "finally", "next", "lastly", "that", "second", "secondly", "third":
			p.then = p.then || t.text != "that" || lead[0].text == "after"
		case "otherwise", "else":
			p.otherwise = true
		case "just", "only", "but", "instead":
			p.positive = true
		}
	}
}

func at(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{kind: mark}
	}
	return tokens[i]
}
