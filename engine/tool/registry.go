package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Config is what a Registry needs from outside.
type Config struct {
	Workspace string           // folder of the file and git tools; made if missing
	Env       func() []string  // NAME=value pairs; nil means os.Environ
	Now       func() time.Time // nil means time.Now; stamps outcomes only
	Extra     []Extra          // scripted tools, for tests and benchmarks
	Worker    []string         // command that does what WorkCompute does; none: compute is unavailable
	Mail      Mail             // none: mail.send is unavailable
}

// Registry owns the tools. Only Open leads to one, and only against a Grant.
type Registry struct {
	host    *host
	now     func() time.Time
	catalog *plan.Catalog
	tools   map[string]*entry
	used    *usedGrants
	redact  *Redactor
}

// entry is one tool: its declaration and, unexported, how to run it (P18).
type entry struct {
	decl plan.Tool
	run  Func
}

// host is what the shipped tools may touch.
type host struct {
	root *os.Root        // the workspace
	dir  string          // its real path, for git
	env  func() []string // NAME=value pairs

	worker []string         // Config.Worker
	mail   Mail             // Config.Mail, settled
	now    func() time.Time // Config.Now
}

// Refusals of Open. None of them reaches a model: Perform answers with
// UnavailableText and keeps the error in Outcome.Fault.
var (
	ErrZeroGrant   = errors.New("grant is the zero value")
	ErrUnknownTool = errors.New("tool is not in the registry")
	ErrMismatch    = errors.New("grant does not cover the call")
	ErrUsedGrant   = errors.New("grant was used before")
)

// New opens the workspace and builds the registry with its catalogue. Secrets
// for redaction are read from Env once, here.
func New(config Config) (*Registry, error) {
	if config.Env == nil {
		config.Env = os.Environ
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	sender, err := config.Mail.settled()
	if err != nil {
		return nil, fmt.Errorf("configure mail: %w", err)
	}
	config.Mail = sender
	h, err := openHost(config)
	if err != nil {
		return nil, err
	}
	r := &Registry{
		host: h, now: config.Now, tools: map[string]*entry{},
		used: newUsedGrants(UsedGrantsMax), redact: NewRedactor(append(slices.Clone(config.Env()), "SMTP_PASSWORD="+string(config.Mail.Password))),
	}
	if err := r.fill(config.Extra); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func openHost(config Config) (*host, error) {
	if err := os.MkdirAll(config.Workspace, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	absolute, err := filepath.Abs(config.Workspace)
	if err != nil {
		return nil, fmt.Errorf("locate workspace: %w", err)
	}
	dir, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, fmt.Errorf("locate workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &host{root: root, dir: dir, env: config.Env, worker: config.Worker, mail: config.Mail, now: config.Now}, nil
}

// fill enters the shipped and the extra tools and builds the catalogue.
func (r *Registry) fill(extra []Extra) error {
	all := shipped(r.host)
	for _, x := range extra {
		all = append(all, x.entry)
	}
	decls := make([]plan.Tool, 0, len(all))
	for _, e := range all {
		if _, found := r.tools[e.decl.Name]; found {
			return fmt.Errorf("enter tool %q: name is taken", e.decl.Name)
		}
		r.tools[e.decl.Name] = &e
		decls = append(decls, e.decl)
	}
	catalog, err := plan.NewCatalog(decls)
	if err != nil {
		return fmt.Errorf("build catalogue: %w", err)
	}
	r.catalog = catalog
	return nil
}

// shipped lists the tools of P11a that this version builds.
func shipped(h *host) []entry {
	return []entry{
		sysinfo(h), diskUsage(h), netInfo(h), processList(h), envList(h),
		gitFind(h), gitStatus(h), gitLog(h), gitDiff(h),
		fileRead(h), fileList(h), fileSearch(h), fileWrite(h), filePatch(h), fileDelete(h),
		computeTool(h), mailSend(h),
	}
}

// Catalog gives the declarations of every tool in the registry.
func (r *Registry) Catalog() *plan.Catalog { return r.catalog }

// Redactor gives the redaction of secrets by value, for inputs that do not come
// from a tool (P26).
func (r *Registry) Redactor() *Redactor { return r.redact }

// Close releases the workspace. Tools that are still running lose it.
func (r *Registry) Close() error { return r.host.root.Close() }

// Open gives the one use of one tool that the grant was minted for. P18: it
// refuses the zero grant, a call the grant does not cover, a tool whose declared
// consequences are not those that were ranked, and a second use.
func (r *Registry) Open(g policy.Grant, c policy.Call) (Handle, error) {
	if !g.Valid() {
		return Handle{}, ErrZeroGrant
	}
	e, found := r.tools[c.Tool.Name]
	if !found {
		return Handle{}, ErrUnknownTool
	}
	if !g.Covers(c) || !sameConsequences(c.Tool, e.decl.Tool) {
		return Handle{}, ErrMismatch
	}
	if !r.used.take(g.ID()) {
		return Handle{}, ErrUsedGrant
	}
	return newHandle(e, c), nil
}

// sameConsequences compares what the gate ranked with what the tool declares,
// so that a call cannot borrow a name for a harmless declaration (R46).
func sameConsequences(ranked, declared policy.Tool) bool {
	return ranked.Effect == declared.Effect && ranked.External == declared.External && ranked.Impact == declared.Impact
}
