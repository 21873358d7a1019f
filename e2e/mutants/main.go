package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "module to mutate (a copy of it)")
	dir := flag.String("mutants", filepath.Join("e2e", "mutants"), "folder of patches below the root")
	flag.Parse()
	if err := Judge(os.Stdout, *root, filepath.Join(*root, *dir)); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// Judge tries every mutant of a folder and reports one line each. The error
// counts those that were not killed or could not be tried.
func Judge(w io.Writer, root, dir string) error {
	all, err := Read(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("no patch found in " + dir)
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return fmt.Errorf("make copy: %w", err)
	}
	defer os.RemoveAll(temp)
	bed, err := Lay(root, temp)
	if err != nil {
		return err
	}
	alive := 0
	controls := map[string]error{}
	for _, m := range all {
		line, ok := judge(bed, m, controls)
		fmt.Fprintf(w, "%-9s %s: %s\n", line, m.Name, m.Why)
		if !ok {
			alive++
		}
	}
	fmt.Fprintf(w, "%d of %d mutants killed\n", len(all)-alive, len(all))
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants not killed", alive, len(all))
	}
	return nil
}

// judge tries one mutant. Its test is run on the unchanged copy once per
// command, however many mutants name it.
func judge(bed Bed, m Mutant, controls map[string]error) (string, bool) {
	if _, done := controls[m.command()]; !done {
		controls[m.command()] = bed.Control(m)
	}
	if err := controls[m.command()]; err != nil {
		return "error: " + err.Error() + "\n", false
	}
	killed, err := bed.Try(m)
	switch {
	case err != nil:
		return "error: " + err.Error() + "\n", false
	case killed:
		return "killed", true
	}
	return "SURVIVED", false
}
