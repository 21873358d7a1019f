package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is one patch with the test that must notice it.
type Mutant struct {
	Name  string // file name without .patch
	Why   string // first header line: what the change breaks
	Kills []string
	Patch []byte
}

// Read gives the mutants of a folder, sorted by name.
func Read(dir string) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, fmt.Errorf("list mutants: %w", err)
	}
	slices.Sort(paths)
	var out []Mutant
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read mutant: %w", err)
		}
		m, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("read mutant %s: %w", filepath.Base(path), err)
		}
		m.Name = strings.TrimSuffix(filepath.Base(path), ".patch")
		out = append(out, m)
	}
	return out, nil
}

// parse reads the header lines, which all begin with "#", before the diff.
func parse(text []byte) (Mutant, error) {
	m := Mutant{Patch: text}
	for line := range strings.SplitSeq(string(text), "\n") {
		comment, is := strings.CutPrefix(line, "#")
		if !is {
			break
		}
		comment = strings.TrimSpace(comment)
		if command, is := strings.CutPrefix(comment, "kills:"); is {
			m.Kills = strings.Fields(command)
		} else if m.Why == "" {
			m.Why = comment
		}
	}
	return m, m.check()
}

// check wants a go test command with -run: a whole package failing would say
// little about the requirement that the mutant breaks. It runs without a shell.
func (m Mutant) check() error {
	if m.Why == "" {
		return errors.New("no first line that says what it breaks")
	}
	if len(m.Kills) < 5 || m.Kills[0] != "go" || m.Kills[1] != "test" || !slices.Contains(m.Kills, "-run") {
		return fmt.Errorf("want a line %q, got %q", "# kills: go test PACKAGE -run NAME", strings.Join(m.Kills, " "))
	}
	return nil
}

func (m Mutant) command() string { return strings.Join(m.Kills, " ") }
