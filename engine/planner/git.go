package planner

import (
	"strings"

	"sluice/engine/plan"
)

// gitWords may stand in a phrase about repositories.
var gitWords = wordSet(`git repository commit committed uncommitted dirty clean modify change changed unstaged staged untracked branch working tree
	history log diff difference pending local unsaved checkout clone message author who made make latest recent newest subject hash project
	nested codebase directory content stage against compared head master revision folder made whether unclean uncommited modification edit
	work unfinished ahead behind status state since write different differ compared versus vs yet staging committing`)

const twoCommitsText = "the tool for differences compares the working tree with the last commit, not two commits or branches"

// The aspects of git that the tools cover.
var (
	repositoryWords = wordSet("repository")
	dirtyWords      = wordSet("uncommitted dirty unstaged staged untracked")
	statusWords     = wordSet("uncommitted dirty unstaged staged untracked unclean branch")
	logWords        = wordSet("commit history log committed")
	diffWords       = wordSet("diff difference differ different")
	changeWords     = wordSet("change modification modify edit work")
)

// planGit plans phrases about git repositories.
func (b *builder) planGit(r *reading) ([]string, string, bool) {
	is := b.gitAspects(r)
	if !is.about {
		return nil, "", false
	}
	where, named := r.location(false)
	if where.outside {
		return nil, outsideText, true
	}
	if one := b.lastRepository(); !named && one != "" && !r.asksMany() && (r.text("it", "its", "there") || !r.text("git") && !r.has(repositoryWords)) {
		where, named = place{path: one, isDir: true}, true
	}
	if is.diff && r.text("commits", "branches", "tags", "revisions", "versions") {
		return nil, twoCommitsText, true
	}
	if len(r.left(gitWords)) > 0 {
		return nil, "", false
	}
	g := gitAsk{where: where, named: named, many: r.asksMany() || !named && b.found != "" && r.pointsAtFound()}
	switch {
	case is.diff:
		return b.gitOne(r, "git.diff", g)
	case is.status:
		return b.gitStatus(r, g)
	case is.log:
		return b.gitOne(r, "git.log", g)
	}
	ids, why := b.gitFind(r, g)
	return ids, why, true
}

// gitAspects is what of git a phrase is about.
type gitAspects struct{ about, status, log, diff bool }

func (b *builder) gitAspects(r *reading) gitAspects {
	named := r.text("git") || r.has(repositoryWords)
	back := b.found != "" && r.pointsAtFound()
	one := b.lastRepository() != "" && len(r.places()) == 0
	uncommitted := r.text("not", "without", "never", "isnt", "arent", "havent") && r.text("committed", "commit", "committing")
	dirty := r.has(dirtyWords) || r.has(changeWords) && uncommitted || r.has(changeWords) && r.text("local", "pending", "unsaved", "uncommitted")
	folder := len(r.places()) > 0
	a := gitAspects{
		status: dirty || r.text("clean", "unclean") && (named || back || folder) || r.text("branch", "branches") && (named || back || folder) ||
			r.text("status", "state", "statuses") && (named || back) || r.has(changeWords) && (named || back) ||
			r.text("changes") && folder && !r.has(entryWords) && !r.text("recent", "recently"),
		diff: r.has(diffWords) && (named || back || one || r.text("commit", "commits", "head") || onlyFolder(r)) ||
			r.has(changeWords) && r.text("since", "against", "compared", "versus", "vs", "from") && r.text("commit") && !dirty ||
			r.class == verbCompare && r.text("tree", "commit", "commits", "head"),
	}
	a.log = !a.diff && (r.text("commit", "commits", "committed") || r.has(logWords) && (named || back || one))
	if a.log && a.status { // "commit" beside a state is what the state is about
		a.log = !dirty && !r.text("branch", "clean")
		a.status = !a.log
	}
	if more := len(r.places()) == 1 && r.inherited && len(r.left()) == 1; more && !named && !a.status && !a.diff && !a.log {
		tool := b.lastGitTool() // "… of projects/web and of projects/api"
		a.log, a.diff, a.status = tool == "git.log", tool == "git.diff", tool == "git.status"
	}
	a.about = named || a.status || a.diff || a.log
	return a
}

// lastRepository gives the one repository that the clause before was about.
func (b *builder) lastRepository() string {
	if b.lastGitTool() == "" {
		return ""
	}
	return b.path
}

func (b *builder) lastStep() *plan.Step {
	if len(b.last) == 0 {
		return nil
	}
	return b.draft.step(b.last[len(b.last)-1])
}

// lastGitTool gives the tool of the clause before when it looked at one named
// repository.
func (b *builder) lastGitTool() string {
	s := b.lastStep()
	if s == nil || !strings.HasPrefix(s.Tool, "git.") || s.Tool == "git.find" || s.Params["path"] == nil {
		return ""
	}
	return s.Tool
}

// pointsAtFound says whether the repositories found before are meant.
func (r *reading) pointsAtFound() bool {
	return r.text("which", "them", "those", "they", "any", "each", "all", "their", "its", "these", "ones", "every") || r.inherited
}

// gitAsk is what a phrase says about which repositories are meant.
type gitAsk struct {
	where place
	named bool
	many  bool // all repositories, or those found before
}

func onlyFolder(r *reading) bool {
	places := r.places()
	return len(places) == 1 && places[0].isDir
}

// asksMany says whether the repositories of a place are meant, not one.
func (r *reading) asksMany() bool {
	if r.text("which") && r.has(repositoryWords) && len(r.places()) == 0 {
		return true
	}
	return r.text("repos", "repositories", "projects", "checkouts", "clones") || r.text("each", "every", "any", "all") && r.has(repositoryWords)
}

func (b *builder) gitFind(r *reading, g gitAsk) ([]string, string) {
	if !b.offers("git.find") {
		return nil, b.missing("git.find", "finding repositories")
	}
	s := spec{tool: "git.find", name: "git_repositories", guard: b.guard, given: map[string]any{}}
	if g.where.path != "." && b.takes("git.find", "path") {
		s.given["path"] = g.where.path
	}
	b.found = b.draft.add(s)
	return []string{b.found}, ""
}

// gitStatus plans the state of one repository or of all that were found. Many
// are passed as one list, so that none is left out.
func (b *builder) gitStatus(r *reading, g gitAsk) ([]string, string, bool) {
	if !b.offers("git.status") {
		return nil, b.missing("git.status", "the state of a repository"), true
	}
	if !g.many {
		return b.gitOne(r, "git.status", g)
	}
	var ids []string
	if b.found == "" || g.named {
		found, why := b.gitFind(r, g)
		if why != "" {
			return nil, why, true
		}
		ids = found
	}
	if !b.takes("git.status", "paths") || !b.gives("git.find", "paths") {
		return ids, "the state of several repositories cannot be asked for in one step", true
	}
	s := spec{tool: "git.status", name: "git_status", guard: b.guard, refs: map[string]plan.Ref{"paths": {Step: b.found, Field: "paths"}}}
	return append(ids, b.draft.add(s)), "", true
}

// gitOne plans a tool that looks at one repository.
func (b *builder) gitOne(r *reading, tool string, g gitAsk) ([]string, string, bool) {
	if !b.offers(tool) {
		return nil, b.missing(tool, "this"), true
	}
	if g.many && tool != "git.status" {
		return nil, tool + " looks at one repository: name it", true
	}
	if n := r.commitCount(); n > 0 && tool == "git.log" && !g.named && r.inherited && len(b.last) > 0 && b.tool(b.last[len(b.last)-1]) == tool {
		b.draft.set(b.last[len(b.last)-1], "limit", n) // "…, only the last three"
		return b.last, "", true
	}
	if n := r.commitCount(); n > 0 && tool == "git.log" && b.lastGitTool() == tool && len(r.places()) == 0 && b.lastStep().Params["limit"] == nil {
		b.draft.set(b.last[len(b.last)-1], "limit", n) // "history of projects/web, last 5 commits"
		return b.last, "", true
	}
	s := spec{tool: tool, name: tool + " " + g.where.path, guard: b.guard, given: map[string]any{}}
	if g.where.path != "." && b.takes(tool, "path") {
		s.given["path"] = g.where.path
	}
	if n := r.commitCount(); tool == "git.log" && n > 0 && b.takes(tool, "limit") {
		s.given["limit"] = n
	}
	if last := b.lastStep(); r.inherited && last != nil && last.Tool == tool && s.given["limit"] == nil && last.Params["limit"] != nil {
		s.given["limit"] = last.Params["limit"]
	}
	b.path = g.where.path
	return []string{b.draft.add(s)}, "", true
}

// commitCount reads how many commits are asked for: "the last commit" is one.
func (r *reading) commitCount() int {
	if n := r.howMany(); n > 0 {
		return min(n, 100)
	}
	if r.text("last", "latest", "newest", "recent") && r.text("commit", "committed") {
		return 1
	}
	return 0
}
