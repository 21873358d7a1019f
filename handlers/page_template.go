package handlers

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/template"
	"sluice/policy"
	"sluice/web/templates"
)

func (s *Server) templatePages(g *echo.Group) {
	g.GET("/templates", s.templatesPage)
	g.POST("/templates", s.saveTemplateForm)
	g.GET("/templates/new", s.newTemplatePage)
	g.GET("/templates/:name", s.templatePage)
	g.POST("/templates/:name/run", s.runTemplateForm)
}

func (s *Server) templatesPage(c echo.Context) error {
	list, err := s.cfg.Templates.Templates(c.Request().Context())
	if err != nil {
		return err
	}
	v := templates.Templates{Shell: s.shell(c, "Templates", "templates")}
	for i := range list {
		row, err := s.templateRow(c, &list[i])
		if err != nil {
			return err
		}
		v.Rows = append(v.Rows, row)
	}
	return render(c, http.StatusOK, templates.TemplatesPage(v))
}

func (s *Server) templateRow(c echo.Context, t *TemplateInfo) (templates.TemplateRow, error) {
	row := templates.TemplateRow{Name: t.Name, Title: plain(t.Title), Version: t.Version, State: t.State(), Owner: s.ownerName(c, t.Owner), At: t.At}
	for _, slot := range t.Slots {
		row.Slots = append(row.Slots, slot.Name)
	}
	runs, err := s.runsOf(c, t.Ref(), 5)
	for _, r := range runs {
		row.Runs = append(row.Runs, templates.TemplateRun{ID: r.ID, Status: string(r.Status), Code: string(r.Code), CreatedAt: r.CreatedAt})
	}
	return row, err
}

func (s *Server) ownerName(c echo.Context, id string) string {
	if id == "system" {
		return "Sluice"
	}
	return s.person(c, id).Name
}

func (s *Server) templatePage(c echo.Context) error {
	version, err := sequence(c, "version")
	if err != nil {
		return err
	}
	v, _, err := s.templateView(c, int(version))
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.TemplatePage(v))
}

func (s *Server) templateView(c echo.Context, version int) (templates.TemplateView, *TemplateInfo, error) {
	ctx := c.Request().Context()
	t, err := s.cfg.Templates.Template(ctx, c.Param("name"), version)
	if err != nil {
		return templates.TemplateView{}, nil, err
	}
	row, err := s.templateRow(c, &t)
	if err != nil {
		return templates.TemplateView{}, nil, err
	}
	versions, err := s.cfg.Templates.TemplateVersions(ctx, t.Name)
	if err != nil {
		return templates.TemplateView{}, nil, err
	}
	v := templates.TemplateView{Shell: s.shell(c, plain(t.Title), "templates"), TemplateRow: row, Description: plain(t.Description),
		SavedBy: s.ownerName(c, t.Actor), Hash: t.Hash, Steps: outlineOf(t.Plan),
		Intent: s.neededIntent(t.Plan), Key: rand.Text(), Findings: reviewFindings(t.Broken), CanRun: t.State() == "offered"}
	v.Scopes = s.scopeChoices([]string{"default"})
	if t.Quarantine != "" {
		v.Reason = fullStop(t.Quarantine)
	}
	if t.Plans {
		v.Match = t.Phrases
	}
	v.From, v.FromWords = provenance(t.From)
	for i := range versions {
		o := &versions[i]
		v.Versions = append(v.Versions, templates.TemplateVersion{Version: o.Version, State: o.State(), By: s.ownerName(c, o.Actor), At: o.At, Current: o.Version == t.Version})
	}
	for i := range t.Slots {
		v.Fields = append(v.Fields, slotField(&t.Slots[i]))
	}
	return v, &t, nil
}

func provenance(from string) (run, words string) {
	if id, is := strings.CutPrefix(from, "run:"); is {
		return id, "a run that succeeded"
	}
	switch {
	case strings.HasPrefix(from, "draft:"):
		return "", "a drawing"
	case from == "shipped":
		return "", "shipped with Sluice"
	}
	return "", "a file"
}

// neededIntent is the least intent with which no step of a plan is above it.
func (s *Server) neededIntent(p *plan.Plan) string {
	most := "observe"
	for i := range p.Steps {
		tool, known := s.cfg.Rules.Catalog().Lookup(p.Steps[i].Tool)
		if !known {
			continue
		}
		// As the gate would, under the policy in force; what hangs on values counts as the highest.
		switch d := policy.Decide(s.cfg.Rules.Policy(), policy.Call{Tool: tool.Tool, Known: true, Partial: true, Intent: policy.RankMax}); {
		case d.Impact > policy.Operate:
			return "override"
		case d.Impact > policy.Observe:
			most = "operate"
		}
	}
	return most
}

func outlineOf(p *plan.Plan) []templates.OutlineStep {
	list := make([]templates.OutlineStep, len(p.Steps))
	for i := range p.Steps {
		st := &p.Steps[i]
		o := templates.OutlineStep{ID: st.ID, Tool: st.Tool, After: slices.Clone(st.DependsOn), Slots: template.SlotsOf(st)}
		for _, name := range sortedKeys(st.Refs) {
			if from := st.Refs[name].Step; !slices.Contains(o.After, from) {
				o.After = append(o.After, from)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(st.Params)) {
			o.Params = append(o.Params, templates.OutlineParam{Name: plain(name), Value: plain(template.ShownValue(st.Params[name]))})
		}
		for _, name := range sortedKeys(st.Refs) {
			o.Params = append(o.Params, templates.OutlineParam{Name: plain(name), Value: st.Refs[name].Step + "." + st.Refs[name].Field, IsRef: true})
		}
		if st.Guard != nil {
			o.Notes = append(o.Notes, "only if "+st.Guard.Ref.Step+"."+st.Guard.Ref.Field+" "+st.Guard.Op+" "+template.Words(st.Guard.Value))
			if !slices.Contains(o.After, st.Guard.Ref.Step) {
				o.After = append(o.After, st.Guard.Ref.Step)
			}
		}
		if st.Approval {
			o.Notes = append(o.Notes, "asks a person")
		}
		list[i] = o
	}
	return list
}

func slotField(slot *template.Slot) templates.SlotField {
	f := templates.SlotField{Name: slot.Name, Type: string(slot.Type), Description: plain(slot.Description), Required: slot.Default == nil}
	f.Long = slot.Type == template.String && slot.Max != nil && *slot.Max > 4096
	if slot.Default != nil {
		f.Value = template.Words(slot.Default)
		f.Checked = f.Value == "true"
		f.Long = f.Long || strings.Contains(f.Value, "\n") || len(f.Value) > 200
	}
	for _, c := range slot.Enum {
		f.Choices = append(f.Choices, template.Words(c))
	}
	if slot.Min != nil && slot.Type != template.String {
		f.Min = strconv.FormatFloat(*slot.Min, 'f', -1, 64)
	}
	if slot.Max != nil && slot.Type != template.String {
		f.Max = strconv.FormatFloat(*slot.Max, 'f', -1, 64)
	}
	return f
}

// runTemplateForm runs a version with the values of its form. What is refused
// comes back with everything that was typed.
func (s *Server) runTemplateForm(c echo.Context) error {
	version, err := strconv.Atoi(c.FormValue("version"))
	if err != nil || version < 1 {
		return malformed("the version is not a number", "open the template again")
	}
	v, t, err := s.templateView(c, version)
	if err != nil {
		return err
	}
	call := &templateCall{Name: t.Name, Version: version, Values: map[string]json.RawMessage{}}
	for i := range t.Slots {
		slot, f := &t.Slots[i], &v.Fields[i]
		typed := strings.ReplaceAll(c.FormValue("slot."+slot.Name), "\r\n", "\n") // as browsers send lines
		f.Value, f.Checked = typed, typed == "true"
		if typed != "" || slot.Type == template.Boolean || slot.Default == nil {
			call.Values[slot.Name] = slot.Read(typed)
		}
	}
	scopes, err := c.FormParams()
	if err != nil {
		return malformed("the form can not be read", "open the template again")
	}
	if len(v.Scopes) > 0 && len(scopes["scope"]) == 0 {
		v.Problem, v.Intent = "No scope is chosen. Choose at least one.", c.FormValue("intent")
		return render(c, http.StatusUnprocessableEntity, templates.TemplatePage(v))
	}
	body := submitBody{Intent: c.FormValue("intent"), Scopes: scopes["scope"], Review: c.FormValue("review"), IdempotencyKey: c.FormValue("key"), Template: call}
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(body.Intent + "\x00" + body.Review + "\x00" + strings.Join(body.Scopes, "\x01") + "\x00" + string(text)))
	id, _, err := s.submit(c, &body, hex.EncodeToString(sum[:]))
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/runs/"+id)
	}
	p := toProblem(err)
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	for i := range v.Scopes {
		v.Scopes[i].On = slices.Contains(body.Scopes, v.Scopes[i].Name)
	}
	v.Problem, v.Intent, v.Review = fullStop(p.Detail)+" "+fullStop(p.Fix), body.Intent, body.Review != ""
	for _, one := range p.Problems {
		for i := range v.Fields {
			if one.Pointer == "/template/values/"+v.Fields[i].Name {
				v.Fields[i].Problem = one.Message
			}
		}
	}
	return render(c, p.Status, templates.TemplatePage(v))
}

// newTemplatePage offers what could vary in a run or a draft.
func (s *Server) newTemplatePage(c echo.Context) error {
	v, err := s.newTemplate(c, &templateSource{Run: c.QueryParam("run"), Draft: c.QueryParam("draft")})
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.TemplateNewPage(v))
}

func (s *Server) newTemplate(c echo.Context, src *templateSource) (templates.TemplateNew, error) {
	d, err := s.distil(c, src)
	if err != nil {
		return templates.TemplateNew{}, err
	}
	v := templates.TemplateNew{Shell: s.shell(c, "Save as template", "templates"), Run: src.Run, Draft: src.Draft, Goal: plain(d.goal),
		Title: cutRunes(plain(d.goal), template.TitleMax), Name: nameOf(d.goal), Steps: outlineOf(d.plan), Dropped: d.dropped}
	for i := range d.candidates {
		k := &d.candidates[i]
		v.Slots = append(v.Slots, templates.SlotChoice{Key: k.Key, Where: whereOf(d.plan, k), Value: plain(template.Words(k.Value)),
			Type: string(k.Type), Name: k.Name, Description: plain(k.Description), On: k.Proposed, InGoal: k.InGoal})
	}
	v.PhraseHint = phraseHint(d)
	return v, nil
}

// phraseHint is a phrase that the goal itself would be.
func phraseHint(d *distilled) string {
	var named []template.Chosen
	for i := range d.candidates {
		if k := &d.candidates[i]; k.Proposed && k.InGoal {
			named = append(named, template.Chosen{Key: k.Key, Name: k.Name})
		}
	}
	if len(named) == 0 || d.goal != d.plan.Goal {
		return ""
	}
	p, _, _ := template.Cut(d.plan, d.candidates, named)
	return plain(cutRunes(p.Goal, template.PhraseMax))
}

// whereOf says in words where a value stands.
func whereOf(p *plan.Plan, k *template.Candidate) string {
	parts := strings.Split(k.Key, "/")
	if len(parts) < 5 {
		return k.Key
	}
	i, err := strconv.Atoi(parts[2])
	if err != nil || i >= len(p.Steps) {
		return k.Key
	}
	words := p.Steps[i].ID + " " + strings.Join(parts[4:], ".")
	if n := len(k.Places); n > 1 {
		words += " and " + plural(n-1, "other place")
	}
	return words
}

// nameLong is where a proposed name ends.
const nameLong = 40

// nameOf makes a template's name of the words of a goal.
func nameOf(goal string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(goal) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() > nameLong {
			name := b.String()
			return name[:max(strings.LastIndexByte(name, '-'), 1)] // whole words
		}
	}
	return strings.Trim(b.String(), "-")
}

func cutRunes(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func (s *Server) saveTemplateForm(c echo.Context) error {
	src := templateSource{Run: c.FormValue("run"), Draft: c.FormValue("draft"), Name: c.FormValue("name"), Title: c.FormValue("title"),
		Description: c.FormValue("description"), Match: lines(c.FormValue("match"))}
	picked := map[string]templates.SlotChoice{}
	for i := 0; c.FormValue("key."+strconv.Itoa(i)) != ""; i++ {
		n := strconv.Itoa(i)
		p := templates.SlotChoice{Key: c.FormValue("key." + n), Name: strings.TrimSpace(c.FormValue("name." + n)), Description: strings.TrimSpace(c.FormValue("about." + n)),
			On: c.FormValue("on."+n) != ""}
		picked[p.Key] = p
		if p.On {
			src.Slots = append(src.Slots, template.Chosen{Key: p.Key, Name: p.Name, Description: p.Description})
		}
	}
	t, err := s.saveTemplate(c, &src)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/templates/"+t.Name)
	}
	p := toProblem(err)
	if p.Status >= http.StatusInternalServerError || src.Run == "" && src.Draft == "" {
		return err
	}
	v, failed := s.newTemplate(c, &src)
	if failed != nil {
		return failed
	}
	v.Name, v.Title, v.Description, v.Match = src.Name, src.Title, src.Description, strings.Join(src.Match, "\n")
	v.Problem = fullStop(p.Detail) + " " + fullStop(p.Fix)
	for i := range v.Slots {
		if old, is := picked[v.Slots[i].Key]; is {
			v.Slots[i].Name, v.Slots[i].Description, v.Slots[i].On = old.Name, old.Description, old.On
		}
	}
	return render(c, p.Status, templates.TemplateNewPage(v))
}

func lines(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// canSave says whether a run's page offers to save it as a template (R102).
func canSave(v *Viewer, sum *engine.Summary) bool {
	return sum.Code == engine.Success && sum.PlanVersion > 0 && v.Token == "" && v.has("operator")
}
