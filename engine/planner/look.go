package planner

import (
	"regexp"
	"slices"
	"strings"
)

// planLook plans a phrase that asks to be shown something. The rules go from
// the most to the least particular; the first that accepts decides.
func (b *builder) planLook(r *reading) (ids []string, why string) {
	for _, rule := range []func(*reading) ([]string, string, bool){
		b.planGit, b.planSearch, b.planPick, b.planRead, b.planLocate, b.planTopics, b.planListing, b.planAgain, b.planDeclared,
	} {
		saved := b.save()
		if ids, why, is := rule(read(r.phrase)); is {
			return ids, why
		}
		*b = saved
	}
	return nil, "no tool here answers this"
}

// save keeps the state before a rule that may turn out not to accept.
func (b *builder) save() builder {
	saved := *b
	saved.draft = b.draft.clone()
	return saved
}

// planTopics plans the tools that need no parameters: each whose heads stand in
// the phrase, when together they account for every word.
func (b *builder) planTopics(r *reading) ([]string, string, bool) {
	found := r.topics()
	if last := b.lastStep(); last != nil && strings.HasPrefix(last.Tool, "file.") && r.text("in") && r.text("it") {
		return nil, "", false // "is there a port in it" asks about the file
	}
	if len(found) == 0 {
		return b.continueTopic(r)
	}
	sets := []map[string]bool{}
	for _, t := range found {
		sets = append(sets, t.explains)
	}
	disk := r.mountPoint(found)
	if r.takeProgram() == "" {
		r.takeNamedProgram()
	}
	if left := r.left(sets...); len(left) > 0 && !r.tolerates(left) {
		return nil, "", false
	}
	if b.actsOnDevice(r) {
		return nil, "", false
	}
	var ids []string
	why := ""
	for _, t := range found {
		if !b.offers(t.tool) {
			why = b.missing(t.tool, "this")
			continue
		}
		s := spec{tool: t.tool, name: r.topicName(t), guard: b.guard}
		b.fillTopic(r, t, &s)
		if t.tool == "disk_usage" && disk != "" && b.takes(t.tool, "path") {
			s.given = map[string]any{"path": disk}
		}
		ids = append(ids, b.draft.add(s))
		b.topic = t
	}
	return ids, why, true
}

// topics gives the topics whose heads stand in the phrase, and accounts for the
// heads. One that is a mere qualifier of another ("memory" of a process) is left
// out.
func (r *reading) topics() []*topic {
	var found []*topic
	for i := range topics {
		t := &topics[i]
		if r.takeHeads(t) {
			found = append(found, t)
		}
	}
	return slices.DeleteFunc(found, func(t *topic) bool {
		return slices.ContainsFunc(found, func(other *topic) bool { return slices.Contains(other.absorbs, t.tool) })
	})
}

func (r *reading) takeHeads(t *topic) bool {
	found := t.tool == "process_list" && (r.asksEater() || read(r.phrase).takeProgram() != "" && r.has(resourceWords)) || t.tool == "env_list" && r.takeNames()
	for _, head := range t.heads {
		for i := range r.body {
			if n := r.standsAt(head, i); n > 0 {
				r.use(i, i+n)
				found = true
			}
		}
	}
	return found
}

// standsAt gives how many tokens a head takes from a position on, 0 when it does
// not stand there. Articles may stand between its words: "name of the machine".
func (r *reading) standsAt(head []string, from int) int {
	i := from
	for j, w := range head {
		for j > 0 && i < len(r.body) && between[r.body[i].text] && r.body[i].stem != w {
			i++
		}
		if i >= len(r.body) || r.body[i].kind != word && r.body[i].kind != number || r.body[i].stem != w || r.used[i] {
			return 0
		}
		i++
	}
	return i - from
}

var between = map[string]bool{"the": true, "my": true, "our": true, "your": true, "this": true, "that": true, "all": true, "is": true, "are": true,
	"a": true, "its": true}

// takeProgram accounts for the name of a program in "which port does postgres
// use" and "how much memory is chrome using". It gives the name.
func (r *reading) takeProgram() string {
	for i, t := range r.body {
		before, after := at(r.body, i-1).text, at(r.body, i+1)
		asks := before == "does" || before == "do" || before == "is" || before == "are"
		if t.kind == word && r.question && asks && !known(t.text) && (eaterWords[after.stem] || after.stem == "listen" || after.stem == "run") {
			r.use(i, i+1)
			return t.raw
		}
	}
	return ""
}

// takeNamedProgram accounts for the program in "all python processes" and "is
// the ssh daemon running". It gives the name.
func (r *reading) takeNamedProgram() string {
	for i, t := range r.body {
		next := at(r.body, i+1)
		isKind := next.text == "processes" || (next.stem == "process" || next.stem == "daemon" || next.stem == "service" || next.stem == "program") && r.text("running")
		if t.kind == word && isKind && r.text("running", "pid", "pids", "all", "cpu", "memory") && !fillers[t.stem] && !processTopic.explains[t.stem] {
			r.use(i, i+1)
			return t.raw
		}
	}
	return ""
}

var processTopic = topics[slices.IndexFunc(topics, func(t topic) bool { return t.tool == "process_list" })]

// program gives the name of the one program that the phrase is about.
func (r *reading) program() string {
	if name := read(r.phrase).takeProgram(); name != "" {
		return name
	}
	return read(r.phrase).takeNamedProgram()
}

// asksEater reads "what is eating my CPU", which asks for a process without
// saying so.
func (r *reading) asksEater() bool {
	asks := r.question && r.text("what", "whats", "who", "whos", "which", "anything", "something") && !r.text("much", "many")
	return asks && r.has(eaterWords) && r.has(resourceWords) && !r.has(portWords)
}

var (
	eaterWords    = wordSet("eat hog consume use take need occupy busy")
	resourceWords = wordSet("cpu memory ram resource processor core swap")
)

// envName is how variables are written.
var envName = regexp.MustCompile(`^(?:\$[A-Za-z_][A-Za-z0-9_]*|[A-Z][A-Z0-9]*_[A-Z0-9_]*|PATH|HOME)$`)

// takeNames accounts for names of variables. It says whether the phrase is about
// one: "is JAVA_HOME set", "what is $PATH".
func (r *reading) takeNames() bool {
	found := false
	for i, t := range r.body {
		if t.kind == word && envName.MatchString(t.raw) && (t.raw[0] == '$' || r.text("set", "value", "defined", "exported", "variable", "variables", "environment", "env")) {
			r.use(i, i+1)
			found = true
		}
	}
	return found
}

// tolerates lets one unknown adjective pass where the head is a phrase of two
// words or more that nothing else could mean ("the exact juicy kernel version").
// After a preposition or behind the head it may change the subject, so it may not.
func (r *reading) tolerates(left []int) bool {
	if len(left) != 1 || r.body[left[0]].kind != word || known(r.body[left[0]].text) {
		return false
	}
	i := left[0]
	if i+2 >= len(r.body) || !r.used[i+1] || !r.used[i+2] {
		return false
	}
	return i == 0 || determiners[r.body[i-1].text] && !placeWords[at(r.body, i-2).text]
}

// continueTopic takes a bare qualifier as more of the topic before: "the
// interfaces and addresses".
func (b *builder) continueTopic(r *reading) ([]string, string, bool) {
	if !r.inherited || b.topic == nil || len(b.last) == 0 || len(r.left(b.topic.explains)) > 0 || len(r.left()) == 0 {
		return nil, "", false
	}
	return b.last, "", true
}

// actsOnDevice declines what reads like a wish to change a setting: "open port 443".
func (b *builder) actsOnDevice(r *reading) bool {
	return r.verb.text == "open" || r.verb.text == "get" && r.text("rid")
}

// mountPoint accounts for an absolute path in a question about disks: "/home".
func (r *reading) mountPoint(found []*topic) string {
	if !slices.ContainsFunc(found, func(t *topic) bool { return t.tool == "disk_usage" }) {
		return ""
	}
	for i, t := range r.body {
		if t.kind == pathish && t.raw[0] == '/' && !fileForm.MatchString(t.raw) {
			r.use(i, i+1)
			return newPlace(t.raw, i).path
		}
	}
	return ""
}

// topicName makes the id of a step say what was asked for.
func (r *reading) topicName(t *topic) string {
	switch {
	case t.tool == "net_info" && r.has(portWords):
		return "open_ports"
	case t.tool == "net_info":
		return "network"
	case t.tool == "env_list":
		return "environment"
	case t.tool == "process_list":
		return "processes"
	}
	return t.tool
}

var (
	portWords   = wordSet("port listen socket tcp udp")
	memoryWords = wordSet("memory ram")
)

// fillTopic reads the parameters that a topic's words can give.
func (b *builder) fillTopic(r *reading, t *topic, s *spec) {
	if t.tool != "process_list" {
		return
	}
	s.chosen, s.given = map[string]any{}, map[string]any{}
	if r.has(memoryWords) && b.takes(t.tool, "sort") {
		s.chosen["sort"] = "memory"
	}
	if name := r.program(); name != "" && b.takes(t.tool, "name") {
		s.given["name"] = name
		return
	}
	if n := r.howMany(); n > 0 && b.takes(t.tool, "limit") {
		s.given["limit"] = n
	}
}

// howMany reads a small whole number that counts things: "top 5", "last three".
func (r *reading) howMany() int {
	for i, t := range r.body {
		if before := at(r.body, i-1).text; before == "port" || before == "pid" {
			continue
		}
		if n := wholeNumber(t); n > 0 && n <= 1000 && !unitWords[at(r.body, i+1).stem] {
			return n
		}
	}
	return 0
}

var unitWords = wordSet("percent gigabyte megabyte terabyte kilobyte gb mb tb kb byte minute hour day week month year second")

// wholeNumber reads a number written in digits or in words, 0 for anything else.
// "one" is a pronoun more often than a number.
func wholeNumber(t token) int {
	if t.kind == word && t.text != "one" {
		return numberWords[t.text]
	}
	n := 0
	for _, c := range strings.TrimPrefix(t.raw, "-") {
		if t.kind != number || c < '0' || c > '9' || n > 1_000_000 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
