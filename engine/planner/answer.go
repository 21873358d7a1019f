package planner

import (
	"slices"
	"strings"
)

// Direct answers to goals that need no tool (P39).
const (
	thanksText   = "You are welcome."
	greetingText = "Hello. "
	byeText      = "Goodbye."
	nobodyText   = "I am the built-in planner of Sluice: plain code without a model. "
)

// reply gives a direct answer when nothing in the goal asks for work, else "".
func (p *Planner) reply(clauses []clause) string {
	out := ""
	for _, c := range clauses {
		said := p.replyTo(c)
		if said == "" {
			return ""
		}
		if out == "" || out == greetingText+p.offer() {
			out = said
		}
	}
	return out
}

var (
	greetings = sequences(`hello there|hi there|hey there|hello|hi|hey|good morning|good afternoon|good evening|good day|greetings|howdy|yo|moin|hallo|
		welcome|hello again|hi again|how are you|how do you do|hows it going|whats up|sup|how are you doing|how are things|nice to meet you|
		how are you today|good night|are you there|anybody there|anyone there|ping me`)
	thanks = sequences(`thanks a lot|thank you very much|thank you so much|thanks so much|many thanks|thanks|thank you|thx|cheers|great job|
		well done|good job|nice work|great work|perfect|awesome|great|cool|nice|that was helpful|ok|okay|got it|very good|excellent|brilliant|
		good work|much appreciated|i appreciate it|youre great|lovely|never mind|nevermind|no problem`)
	farewells = sequences(`bye|goodbye|see you|see you later|bye bye|farewell|good bye|have a nice day|take care`)
	abilities = sequences(`what can you do|what are you able to do|what can i ask|what can i ask you|help|help me|what do you do|how do you work|
		who are you|what are you|what tools do you have|which tools do you have|what tools are there|what can i do here|what can i do with you|
		what is this|how does this work|list your tools|show your tools|what are your capabilities|what else can you do|who made you|
		whats your name|what is your name|how can you help me|how can you help|what do you know|i need help|are you a robot|are you an ai|
		are you human|what is sluice|can you help me|can you help|tell me what you can do|show me what you can do|what tools can you use|
		which tools can you use|what are you capable of|introduce yourself|how do i use this|how do i use you|what kind of tasks can you do`)
)

func (p *Planner) replyTo(c clause) string {
	words := withoutNames(withoutMarks(c.tokens))
	switch {
	case len(words) == 0:
		return greetingText + p.offer()
	case says(words, abilities):
		return nobodyText + p.offer()
	case says(words, greetings):
		return greetingText + p.offer()
	case says(words, thanks), leads(words, thanksFor) > 0:
		return thanksText
	case says(words, farewells):
		return byeText
	}
	return ""
}

// thanksFor opens a clause that thanks for something: it asks for nothing.
var thanksFor = sequences(`thank you for|thanks for|thank you so much for|thanks a lot for|cheers for|sorry for|sorry about`)

// isChatter says whether a clause among others only greets or thanks.
func (p phrase) isChatter() bool {
	words := withoutNames(withoutMarks(p.tokens))
	return says(words, greetings) || says(words, thanks) || says(words, farewells) || leads(words, thanksFor) > 0
}

func says(words []token, list [][]string) bool {
	n := leads(words, list)
	for n > 0 && n < len(words) {
		more := leads(words[n:], list)
		if more == 0 {
			return false
		}
		n += more
	}
	return n > 0
}

// names are whom a greeting speaks to.
var names = map[string]bool{"sluice": true, "everyone": true, "team": true, "buddy": true, "bot": true, "assistant": true, "world": true,
	"please": true, "and": true, "all": true}

// withoutNames drops who is spoken to and small words that change nothing.
func withoutNames(words []token) []token {
	return slices.DeleteFunc(slices.Clone(words), func(t token) bool { return t.kind == word && names[t.text] })
}

// offer says what the catalogue can do.
func (p *Planner) offer() string {
	var lines []string
	for _, name := range p.Catalog.Names() {
		if tool, is := p.Catalog.Lookup(name); is {
			lines = append(lines, name+": "+tool.Summary)
		}
	}
	if len(lines) == 0 {
		return "No tools are available."
	}
	return "These tools can be asked for in plain words:\n" + strings.Join(lines, "\n")
}
