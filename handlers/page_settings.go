package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"sluice/web/templates"
)

// settingsRoutes stand beside the other pages: a form with a key in it is read
// as it is, while everywhere else a known secret is taken out (P26).
func (s *Server) settingsRoutes(e *echo.Echo) {
	g := e.Group("/settings", s.signedIn)
	g.GET("", s.settings)
	g.POST("/models/:role", s.saveModelForm, plainForm)
	g.POST("/models/:role/test", s.testModelForm, plainForm)
}

// plainForm reads a form whole, within the limit.
func plainForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		r.Body = http.MaxBytesReader(c.Response(), r.Body, FormBytesMax)
		_, err := c.FormParams()
		var big *http.MaxBytesError
		switch {
		case errors.As(err, &big):
			return tooLarge(FormBytesMax)
		case err != nil:
			return malformed("the form could not be read", "send it again from its page")
		}
		return next(c)
	}
}

func (s *Server) settings(c echo.Context) error {
	if _, err := keeper(c); err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.SettingsPage(s.settingsView(c)))
}

func (s *Server) settingsView(c echo.Context) templates.Settings {
	v := templates.Settings{Shell: s.shell(c, "Settings", "settings"), Saved: c.QueryParam("saved")}
	for _, r := range s.modelList(c) {
		v.Roles = append(v.Roles, s.roleView(c, &r))
	}
	return v
}

// words of the fields, in the order of the form.
var modelFieldWords = map[string]templates.SettingField{
	"base_url":   {Label: "Base URL", Hint: "Where the server speaks the OpenAI dialect", Example: "http://127.0.0.1:11434/v1"},
	"model":      {Label: "Model", Hint: "As the server knows it", Example: "qwen3:8b"},
	"max_output": {Label: "Tokens of one answer", Example: "4096", Number: true},
	"timeout_s":  {Label: "Seconds of one call", Example: "120", Number: true},
	"price_in":   {Label: "USD per million input tokens", Hint: "Empty: unpriced", Example: "0.15", Number: true},
	"price_out":  {Label: "USD per million output tokens", Hint: "Empty: unpriced", Example: "0.60", Number: true},
}

func (s *Server) roleView(c echo.Context, r *ModelRole) templates.SettingRole {
	v := templates.SettingRole{Role: r.Role, Model: r.Model, Problem: r.Problem, KeySet: r.Key.Set, KeyFrom: r.Key.From, ChangedAt: r.ChangedAt}
	v.KeyFixed = r.Key.From != "" && r.Key.From != "page" && r.Key.From != "planner"
	if r.ChangedBy != "" {
		v.ChangedBy = s.byWhom(c, r.ChangedBy)
	}
	for _, f := range r.Fields {
		field := modelFieldWords[f.Name]
		field.Name, field.Value, field.From, field.Fixed = f.Name, f.Page, f.From, f.Fixed()
		if field.Fixed {
			field.Value = f.Value
		} else if f.Value != "" && f.Page == "" && f.From != "" {
			field.Example = f.Value
		}
		v.Fields = append(v.Fields, field)
	}
	return v
}

// saveModelForm saves a role. What was refused comes back as it was typed, but
// for the key, which is shown to nobody.
func (s *Server) saveModelForm(c echo.Context) error {
	v, err := settler(c)
	if err != nil {
		return err
	}
	role := c.Param("role")
	if s.cfg.Models == nil || !slices.Contains(modelRoles, role) {
		return notFound("role")
	}
	change := ModelChange{Role: role, BaseURL: posted(c, "base_url"), Model: posted(c, "model"), MaxOutput: posted(c, "max_output"),
		PriceIn: posted(c, "price_in"), PriceOut: posted(c, "price_out"), Timeout: posted(c, "timeout_s")}
	if key := c.FormValue("key"); key != "" {
		change.Key = &key
	}
	if c.FormValue("forget_key") != "" {
		none := ""
		change.Key = &none
	}
	err = s.cfg.Models.SaveRole(c.Request().Context(), v.Principal(), change)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/settings?saved="+role)
	}
	p := toProblem(err)
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	view := s.settingsView(c)
	for i := range view.Roles {
		if view.Roles[i].Role == role {
			refill(c, &view.Roles[i], sentence(p.Detail)+". "+sentence(p.Fix)+".")
		}
	}
	return render(c, p.Status, templates.SettingsPage(view))
}

// posted is a field of a form, nil when the form has none: what is fixed
// elsewhere is not sent.
func posted(c echo.Context, name string) *string {
	values, sent := c.Request().PostForm[name]
	if !sent || len(values) == 0 {
		return nil
	}
	return &values[0]
}

// refill shows what was typed, and says whether it differs from what is saved.
func refill(c echo.Context, r *templates.SettingRole, refused string) bool {
	r.Refused = refused
	differs := false
	for i := range r.Fields {
		if text := posted(c, r.Fields[i].Name); text != nil {
			differs = differs || *text != r.Fields[i].Value
			r.Fields[i].Value = plain(*text)
		}
	}
	return differs
}

// testModelForm tries a role as it is saved and shows what works.
func (s *Server) testModelForm(c echo.Context) error {
	if _, err := keeper(c); err != nil {
		return err
	}
	role := c.Param("role")
	if s.cfg.Models == nil || !slices.Contains(modelRoles, role) {
		return notFound("role")
	}
	check, err := s.checkModel(c, role)
	if err != nil {
		return err
	}
	view := s.settingsView(c)
	for i := range view.Roles {
		if view.Roles[i].Role == role {
			view.Roles[i].Test = testView(&check)
			view.Roles[i].Test.Unsaved = refill(c, &view.Roles[i], "") || c.FormValue("key") != ""
		}
	}
	return render(c, http.StatusOK, templates.SettingsPage(view))
}

// testView says a check line by line.
func testView(r *ModelCheck) *templates.SettingTest {
	v := &templates.SettingTest{OK: r.OK, Problem: sentence(r.Problem)}
	if !r.Configured {
		return v
	}
	if !r.Reached { // nothing else was learned
		v.Lines = []templates.Pair{{Name: "Reached", Value: yesNo(r.Reached)}}
		return v
	}
	listed := map[string]string{"yes": "yes", "no": "not in the server's list", "unknown": "the server has no list"}[r.Listed]
	structure := map[string]string{"json_schema": "yes, by JSON schema", "json_object": "yes, as JSON with the schema in the prompt",
		"prompt": "yes, with the schema in the prompt"}[r.Structure]
	v.Lines = []templates.Pair{{Name: "Reached", Value: yesNo(r.Reached)}, {Name: "Model known", Value: listed},
		{Name: "Streams", Value: yesNo(r.Streams)}, {Name: "Structured answers", Value: firstOf(structure, "no")},
		{Name: "Usage reported", Value: yesNo(r.Usage)}, {Name: "Latency", Value: strconv.FormatInt(r.LatencyMS, 10) + " ms"}}
	return v
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// plannedBy names who will plan a run submitted now.
func (s *Server) plannedBy() string {
	if m := s.models().Planner; m.Name != "" {
		return m.By
	}
	return "builtin"
}
