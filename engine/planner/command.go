package planner

import "slices"

// commandVerbs are programs whose plain use one of the tools covers, with the
// words that say the same.
var commandVerbs = map[string]struct {
	class verbClass
	words string // put into the body; "" leaves the arguments as they are
}{
	"ls": {class: verbList}, "dir": {class: verbList}, "tree": {verbList, "everything"}, "cat": {class: verbRead}, "head": {class: verbRead},
	"tail": {class: verbRead}, "less": {class: verbRead}, "more": {class: verbRead}, "grep": {class: verbSearch}, "rg": {class: verbSearch},
	"df": {verbShow, "disk usage"}, "free": {verbShow, "memory"}, "uname": {verbShow, "kernel version"}, "uptime": {verbShow, "uptime"},
	"hostname": {verbShow, "hostname"}, "lscpu": {verbShow, "cpu"}, "nproc": {verbShow, "cpu"}, "ps": {verbShow, "processes"},
	"top": {verbShow, "processes"}, "htop": {verbShow, "processes"}, "env": {verbShow, "environment variables"},
	"printenv": {verbShow, "environment variables"}, "netstat": {verbShow, "open ports"}, "ss": {verbShow, "open ports"},
	"ifconfig": {verbShow, "network interfaces"}, "rm": {class: verbDelete}, "lsblk": {verbShow, "disks"},
}

// gitCommands are the commands of git that a tool covers.
var gitCommands = map[string]string{"status": "git status", "log": "git log", "diff": "git diff"}

// planCommand plans "run …" when what follows is a command that a tool covers.
func (b *builder) planCommand(r *reading) ([]string, string) {
	if ids, why, is := b.planCommandLine(r); is {
		return ids, why
	}
	return nil, b.missing("shell", "running a command")
}

// planCommandLine reads the body, or the quoted command in it, as a command
// line. A line of more than one plain command is none.
func (b *builder) planCommandLine(r *reading) ([]string, string, bool) {
	line := r.commandLine()
	if len(line) == 0 || slices.ContainsFunc(line, func(t token) bool { return t.kind == mark || t.raw == "&&" || t.raw == "||" }) {
		return nil, "", false
	}
	p := r.phrase
	p.question, p.verb, p.class = false, line[0], verbNone
	if how, is := commandVerbs[line[0].raw]; is {
		p.class, p.body = how.class, withoutFlags(line[1:])
		if how.words != "" {
			p.body = append(tokenize(how.words), slices.DeleteFunc(p.body, func(t token) bool { return t.kind == word })...)
		}
	}
	if how, is := gitCommands[at(line, 1).text]; is && line[0].text == "git" {
		p.class, p.body = verbShow, append(tokenize(how), withoutFlags(line[2:])...)
	}
	switch p.class {
	case verbNone:
		return nil, "", false
	case verbDelete:
		if len(line) != len(p.body)+1 {
			return nil, "only a plain deletion of named files is covered", true
		}
		ids, why := b.planDelete(read(p))
		return ids, why, true
	}
	ids, why := b.planLook(read(p))
	return ids, why, len(ids) > 0
}

// isTyped says whether the phrase is a command as typed: a program with flags.
func (r *reading) isTyped() bool {
	first := r.verb
	if !r.hasVerb {
		first = at(r.body, 0)
	}
	_, is := commandVerbs[first.raw]
	hasFlags := slices.ContainsFunc(r.body, func(t token) bool { return t.kind == flag || t.raw == "aux" || t.kind == number && t.raw[0] == '-' })
	alone := len(r.tokens) == 1 && len(r.body) <= 1 && first.raw == r.tokens[0].raw
	return (is || first.raw == "git") && r.class != verbRun && (hasFlags || alone)
}

// commandLine gives the tokens of the command: those of the quoted one, else the
// body after "the command" and the like.
func (r *reading) commandLine() []token {
	for _, t := range r.body {
		if t.kind == command || t.kind == quoted && r.class == verbRun {
			return tokenize(t.text)
		}
	}
	body := r.body
	for len(body) > 0 && (body[0].kind == mark && body[0].raw == ":" || determiners[body[0].text] || body[0].stem == "command" || body[0].text == "shell") {
		body = body[1:]
	}
	if r.class != verbRun && r.verb.raw != "" {
		return append([]token{r.verb}, body...)
	}
	return body
}

func withoutFlags(line []token) []token {
	return slices.DeleteFunc(slices.Clone(line), func(t token) bool { return t.kind == flag })
}
