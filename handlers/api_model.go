package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
)

// modelRoles are the roles a model can have (R94).
var modelRoles = []string{"planner", "executor"}

// modelPatience is longer than the slowest check of both roles, and than any
// proposal somebody would wait for.
const modelPatience = 30 * time.Minute

func (s *Server) modelRoutes(g *echo.Group) {
	g.GET("/models", s.apiModels)
	g.PUT("/models/:role", s.apiSaveModel)
	g.POST("/models/check", s.apiCheckModels)
}

// keeper wants an admin with a session, or the server's own token: other tokens
// neither see nor change what the installation is set to.
func keeper(c echo.Context) (*Viewer, error) {
	v := viewer(c)
	if !v.has("admin") || v.Token != "" && v.Token != LocalToken {
		return nil, problem("denied", "only an admin may see and change the settings", "ask an admin")
	}
	return v, nil
}

// settler wants an admin in person: no token changes where questions and keys go.
func settler(c echo.Context) (*Viewer, error) {
	v, err := keeper(c)
	if err == nil && v.Token != "" {
		err = problem("denied", "tokens can not change the settings", "sign in and change them in the browser")
	}
	return v, err
}

// roleWire is a role on the wire.
type roleWire struct {
	Role      string      `json:"role"`
	Model     string      `json:"model"` // in force, "" for the built-in planner
	Fields    []fieldWire `json:"fields"`
	Key       keyWire     `json:"key"`
	Problem   string      `json:"problem"`
	ChangedAt string      `json:"changed_at,omitempty"`
	ChangedBy string      `json:"changed_by,omitempty"`
}

type fieldWire struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // "" for a default
}

// keyWire never holds a key.
type keyWire struct {
	Set  bool   `json:"set"`
	From string `json:"from"`
}

func (s *Server) apiModels(c echo.Context) error {
	if _, err := keeper(c); err != nil {
		return err
	}
	list := []roleWire{}
	for _, r := range s.modelList(c) {
		w := roleWire{Role: r.Role, Model: r.Model, Key: keyWire(r.Key), Problem: r.Problem, ChangedBy: r.ChangedBy}
		if r.ChangedAt > 0 {
			w.ChangedAt = engine.WireTime(r.ChangedAt)
		}
		for _, f := range r.Fields {
			w.Fields = append(w.Fields, fieldWire{f.Name, f.Value, f.From})
		}
		list = append(list, w)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"roles": list})
}

func (s *Server) modelList(c echo.Context) []ModelRole {
	if s.cfg.Models == nil {
		return nil
	}
	return s.cfg.Models.Roles(c.Request().Context())
}

// models is what a run submitted now gets.
func (s *Server) models() engine.Models {
	if s.cfg.Models == nil {
		return engine.Models{}
	}
	return s.cfg.Models.Current()
}

// changeWire is PUT /models/{role}: what is left out stays.
type changeWire struct {
	BaseURL   *string      `json:"base_url"`
	Model     *string      `json:"model"`
	Key       *string      `json:"key"` // write-only
	MaxOutput *json.Number `json:"max_output"`
	PriceIn   *json.Number `json:"price_in"`
	PriceOut  *json.Number `json:"price_out"`
	TimeoutS  *json.Number `json:"timeout_s"`
}

// apiSaveModel reads its body itself: a key in it must reach the settings as it
// is, while everywhere else a known secret is taken out of what comes in (P26).
func (s *Server) apiSaveModel(c echo.Context) error {
	v, err := settler(c)
	if err != nil {
		return err
	}
	role := c.Param("role")
	if !slices.Contains(modelRoles, role) || s.cfg.Models == nil {
		return notFound("role; there are planner and executor")
	}
	raw, err := readBody(c)
	if err != nil {
		return err
	}
	var w changeWire
	if err := decodeExact(raw, &w); err != nil {
		return err
	}
	change := ModelChange{Role: role, BaseURL: w.BaseURL, Model: w.Model, Key: w.Key, MaxOutput: numberText(w.MaxOutput),
		PriceIn: numberText(w.PriceIn), PriceOut: numberText(w.PriceOut), Timeout: numberText(w.TimeoutS)}
	if err := s.cfg.Models.SaveRole(c.Request().Context(), v.Principal(), change); err != nil {
		return err
	}
	return s.apiModels(c)
}

// decodeExact reads a body whose errors must not quote it: it may hold a key.
func decodeExact(raw []byte, into any) error {
	bad := malformed("the body is not the JSON object that is wanted", "send an object with any of base_url, model, key, max_output, price_in, price_out and timeout_s")
	if _, err := plan.Canonical(raw); err != nil {
		return bad
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || json.Unmarshal(raw, into) != nil {
		return bad
	}
	for name := range given {
		if !slices.Contains([]string{"base_url", "model", "key", "max_output", "price_in", "price_out", "timeout_s"}, name) {
			return bad
		}
	}
	return nil
}

func numberText(n *json.Number) *string {
	if n == nil {
		return nil
	}
	text := n.String()
	return &text
}

// apiCheckModels tries the roles as they are set: all, or the one named.
func (s *Server) apiCheckModels(c echo.Context) error {
	if _, err := keeper(c); err != nil {
		return err
	}
	var body struct {
		Role string `json:"role"`
	}
	if err := s.readOptional(c, &body); err != nil {
		return err
	}
	if s.cfg.Models == nil || body.Role != "" && !slices.Contains(modelRoles, body.Role) {
		return notFound("role; there are planner and executor")
	}
	checks := []ModelCheck{}
	ok := true
	for _, role := range modelRoles {
		if body.Role != "" && body.Role != role {
			continue
		}
		check, err := s.checkModel(c, role)
		if err != nil {
			return err
		}
		ok = ok && check.OK
		checks = append(checks, check)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"ok": ok, "roles": checks})
}

// patient gives an answer that waits for a model its time, where the server
// writes answers within a limit of its own.
func patient(c echo.Context) error {
	err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(modelPatience))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (s *Server) checkModel(c echo.Context, role string) (ModelCheck, error) {
	if err := patient(c); err != nil {
		return ModelCheck{}, err
	}
	return s.cfg.Models.CheckRole(c.Request().Context(), role)
}
