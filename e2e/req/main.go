package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// columns is the width of a printed line.
const columns = 100

func main() {
	root := flag.String("root", ".", "repository to read")
	flag.Parse()
	named, err := Scan(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "req:", err)
		os.Exit(2)
	}
	Print(os.Stdout, named)
}

// Print writes one paragraph per series: how many numbers tests name, and which
// none does.
func Print(w io.Writer, named Named) {
	for _, numbers := range series() {
		var missing []string
		for _, n := range numbers {
			if named[n] == 0 {
				missing = append(missing, n)
			}
		}
		first, last := numbers[0], numbers[len(numbers)-1]
		fmt.Fprintf(w, "%s-%s: %d of %d named by a test\n", first, last, len(numbers)-len(missing), len(numbers))
		wrap(w, missing)
	}
}

func wrap(w io.Writer, words []string) {
	line := ""
	for _, word := range words {
		if len(line)+len(word)+3 > columns {
			fmt.Fprintln(w, line)
			line = ""
		}
		line += "  " + word
	}
	if strings.TrimSpace(line) != "" {
		fmt.Fprintln(w, line)
	}
}
