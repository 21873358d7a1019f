package plan

import (
	"strconv"
	"strings"
)

// origin says where the parts of a plan stand in a document of another form, so
// that every pointer refers to the document as written.
type origin struct {
	steps string     // the list's name: "nodes"
	deps  [][]string // per step, per entry of DependsOn, its pointer
}

// at is the RFC 6901 pointer of a part of a step: at(3, "params", "path").
func (p *Plan) at(step int, parts ...string) string {
	var b strings.Builder
	b.WriteString(p.list())
	b.WriteByte('/')
	b.WriteString(strconv.Itoa(step))
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(escape(part))
	}
	return b.String()
}

// list is the pointer of the list of steps.
func (p *Plan) list() string {
	if p.origin == nil {
		return "/steps"
	}
	return "/" + p.origin.steps
}

// atDep is the pointer of an entry of DependsOn: an edge in the node/edge form.
func (p *Plan) atDep(step, entry int) string {
	if p.origin != nil && step < len(p.origin.deps) && entry < len(p.origin.deps[step]) {
		return p.origin.deps[step][entry]
	}
	return p.at(step, "depends_on", strconv.Itoa(entry))
}

// escape writes a name as a reference token of RFC 6901.
func escape(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
