package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sluice/engine/template"
)

// inProcess is the token of an API that is called in this process only.
const inProcess = "in-process"

// throughAPI calls the API of the server that holds the data directory, or of
// one in this process that listens nowhere (P34).
func throughAPI(ctx context.Context, s streams, cfg config, use func(*client) error) error {
	server, a, err := serverOrData(ctx, s, cfg)
	if err != nil {
		return err
	}
	if server != nil {
		return use(server)
	}
	defer a.close()
	pages, err := a.pages(inProcess)
	if err != nil {
		return err
	}
	defer pages.Close()
	return use(&client{info: serverInfo{URL: "http://localhost", Token: inProcess}, http: http.Client{Transport: direct{pages.Handler()}}})
}

// direct hands requests to a handler without a connection.
type direct struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &answered{header: http.Header{}, status: http.StatusOK}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	d.handler.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r}, nil
}

// answered keeps what a handler answers.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answered) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answered) Write(p []byte) (int, error) { return a.body.Write(p) }

// templateRequest is the template member of POST /runs.
type templateRequest struct {
	Name    string                     `json:"name"`
	Version int                        `json:"version,omitempty"`
	Values  map[string]json.RawMessage `json:"values"`
}

// settings collects --set name=value.
type settings map[string]string

// String implements flag.Value.
func (s settings) String() string { return "" }

// Set implements flag.Value.
func (s settings) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("write name=value")
	}
	s[name] = value
	return nil
}

// nameAndVersion reads "name" or "name@2".
func nameAndVersion(text string) (string, int, error) {
	name, number, has := strings.Cut(text, "@")
	if !has {
		return name, 0, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("%q is no version of a template; write NAME or NAME@2: %w", text, errUsage)
	}
	return name, n, nil
}

func templatePath(name string, version int) string {
	path := "/api/v1/templates/" + url.PathEscape(name)
	if version > 0 {
		path += "?version=" + strconv.Itoa(version)
	}
	return path
}

// fillTemplate reads --set values by the types of the template's slots.
func fillTemplate(ctx context.Context, c *client, ref string, set settings) (*templateRequest, error) {
	name, version, err := nameAndVersion(ref)
	if err != nil {
		return nil, err
	}
	var shown struct {
		Slots []template.Slot `json:"slots"`
	}
	if err := c.call(ctx, request{http.MethodGet, templatePath(name, version), nil}, &shown); err != nil {
		return nil, err
	}
	out := &templateRequest{Name: name, Version: version, Values: map[string]json.RawMessage{}}
	for key, typed := range set {
		slot := template.Slot{Name: key, Type: template.String}
		for _, s := range shown.Slots {
			if s.Name == key {
				slot = s
			}
		}
		out.Values[key] = slot.Read(typed)
	}
	return out, nil
}

func templateCommand(ctx context.Context, s streams, args []string) int {
	verbs := map[string]func(context.Context, streams, []string) int{
		"list": templateList, "show": templateShow, "save": templateSave, "run": templateRun}
	if len(args) > 0 {
		if verb, known := verbs[args[0]]; known {
			return verb(ctx, s, args[1:])
		}
		if isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice template list | show NAME[@VERSION] | save FILE | save --from-run RUN --name NAME --title TEXT | run NAME[@VERSION] --set slot=value")
			return exitYes
		}
	}
	return fail(s, fmt.Errorf("use template list, show, save or run: %w", errUsage))
}

func templateList(ctx context.Context, s streams, args []string) int {
	var asJSON bool
	return templateQuery(ctx, s, templateAsk{"list", args, 0, func([]string) (string, error) { return "/api/v1/templates", nil }, &asJSON,
		func(raw json.RawMessage) error {
			var list struct {
				Templates []struct {
					Name, Title, State string
					Version            int
					Slots              []template.Slot
				}
			}
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			for _, t := range list.Templates {
				fmt.Fprintf(s.out, "%-28s v%-3d %-12s %s (slots: %d)\n", t.Name, t.Version, t.State, t.Title, len(t.Slots))
			}
			return nil
		}})
}

func templateShow(ctx context.Context, s streams, args []string) int {
	asJSON := true
	return templateQuery(ctx, s, templateAsk{"show", args, 1, func(rest []string) (string, error) {
		name, version, err := nameAndVersion(rest[0])
		return templatePath(name, version), err
	}, &asJSON, nil})
}

// templateAsk is a command that reads.
type templateAsk struct {
	name   string
	args   []string
	wants  int
	path   func(rest []string) (string, error)
	asJSON *bool
	print  func(json.RawMessage) error
}

func templateQuery(ctx context.Context, s streams, ask templateAsk) int {
	var cfg config
	f := newFlags("template "+ask.name, "template "+ask.name+" [--json]")
	f.BoolVar(ask.asJSON, "json", *ask.asJSON, "print the API's shape")
	cfg.flags(f)
	rest, done, code := parse(f, s, ask.args)
	if done {
		return code
	}
	if len(rest) != ask.wants {
		return fail(s, fmt.Errorf("template %s wants %d arguments: %w", ask.name, ask.wants, errUsage))
	}
	path, err := ask.path(rest)
	if err != nil {
		return fail(s, err)
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	err = throughAPI(ctx, s, cfg, func(c *client) error {
		var raw json.RawMessage
		if err := c.call(ctx, request{http.MethodGet, path, nil}, &raw); err != nil {
			return err
		}
		if ask.print == nil || *ask.asJSON {
			return printJSON(s.out, raw)
		}
		return ask.print(raw)
	})
	if err != nil {
		return fail(s, err)
	}
	return exitYes
}

func templateSave(ctx context.Context, s streams, args []string) int {
	var cfg config
	var run, name, title string
	f := newFlags("template save", "template save FILE | template save --from-run RUN --name NAME --title TEXT")
	f.StringVar(&run, "from-run", "", "a run that ended with SUCCESS; the values that look variable become slots")
	f.StringVar(&name, "name", "", "name of the template")
	f.StringVar(&title, "title", "", "what it does, in a few words")
	cfg.flags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if (run == "") == (len(rest) != 1) {
		return fail(s, fmt.Errorf("template save wants one file, or --from-run: %w", errUsage))
	}
	var doc []byte
	var err error
	if run == "" {
		if doc, err = readPlan(s, rest[0]); err != nil {
			return fail(s, err)
		}
		if !json.Valid(doc) {
			return fail(s, fmt.Errorf("%s is not JSON: %w", rest[0], errUsage))
		}
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	err = throughAPI(ctx, s, cfg, func(c *client) error {
		body := map[string]any{"template": json.RawMessage(doc)}
		if run != "" {
			if body, err = fromRun(ctx, c, run); err != nil {
				return err
			}
			body["name"], body["title"] = name, first(title, name)
		}
		var raw json.RawMessage
		if err := c.call(ctx, request{http.MethodPost, "/api/v1/templates", body}, &raw); err != nil {
			return err
		}
		return printJSON(s.out, raw)
	})
	if err != nil {
		return failRun(s, err)
	}
	return exitYes
}

// fromRun takes the proposed slots as they are.
func fromRun(ctx context.Context, c *client, run string) (map[string]any, error) {
	var offered struct{ Candidates []template.Candidate }
	if err := c.call(ctx, request{http.MethodPost, "/api/v1/templates/candidates", map[string]any{"run": run}}, &offered); err != nil {
		return nil, err
	}
	slots := []template.Chosen{}
	for _, k := range offered.Candidates {
		if k.Proposed {
			slots = append(slots, template.Chosen{Key: k.Key, Name: k.Name})
		}
	}
	return map[string]any{"run": run, "slots": slots}, nil
}

// templateRun is `sluice run --template NAME`.
func templateRun(ctx context.Context, s streams, args []string) int {
	if len(args) == 0 || isHelp(args[0]) || strings.HasPrefix(args[0], "-") {
		return runGoal(ctx, s, []string{"--help"})
	}
	return runGoal(ctx, s, append([]string{"--template", args[0]}, args[1:]...))
}

// templateCall is a run of a template as the command line asks for it.
type templateCall struct {
	run *runRequest
	ref string
	set settings
}

func runTemplate(ctx context.Context, s streams, cfg config, t templateCall) (json.RawMessage, error) {
	var raw json.RawMessage
	err := throughAPI(ctx, s, cfg, func(c *client) error {
		var err error
		if t.run.Template, err = fillTemplate(ctx, c, t.ref, t.set); err != nil {
			return err
		}
		raw, err = runThrough(ctx, c, t.run)
		return err
	})
	return raw, err
}
