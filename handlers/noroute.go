package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// noRoute answers what no route of the API takes: a path that none has, or a
// path that is there under other methods.
func (s *Server) noRoute(c echo.Context) error {
	methods := s.methodsOf(c.Request().URL.Path)
	if len(methods) == 0 {
		return notFound("route")
	}
	allow := strings.Join(methods, ", ")
	c.Response().Header().Set(echo.HeaderAllow, allow)
	p := problem("invalid", "the method "+plain(c.Request().Method)+" is not for this route", "use "+strings.Join(methods, " or "))
	p.Status, p.Title = http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed)
	return p
}

// methodsOf lists the methods of the routes that a path matches, sorted.
func (s *Server) methodsOf(path string) []string {
	var methods []string
	for _, r := range s.echo.Routes() {
		if matches(r.Path, path) && !slices.Contains(methods, r.Method) {
			methods = append(methods, r.Method)
		}
	}
	slices.Sort(methods)
	return methods
}

// matches compares a path with a route's pattern part by part. The catch-all is
// a pattern of no route.
func matches(pattern, path string) bool {
	parts, given := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(parts) != len(given) {
		return false
	}
	for i, part := range parts {
		isName := strings.HasPrefix(part, ":") && given[i] != ""
		if part == "*" || part != given[i] && !isName {
			return false
		}
	}
	return true
}
