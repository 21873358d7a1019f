package template

import (
	"embed"
	"fmt"
)

//go:embed files/*.json
var files embed.FS

// Shipped gives the templates that every installation starts with.
func Shipped() ([]*Template, error) {
	names, err := files.ReadDir("files")
	if err != nil {
		return nil, err
	}
	list := make([]*Template, 0, len(names))
	for _, name := range names {
		doc, err := files.ReadFile("files/" + name.Name())
		if err != nil {
			return nil, err
		}
		t, found := Parse(doc)
		if t == nil {
			return nil, fmt.Errorf("read shipped template %s: %w", name.Name(), found[0])
		}
		list = append(list, t)
	}
	return list, nil
}
