package main

import (
	"fmt"
	"regexp"
	"strings"
)

// series are the requirement numbers by letter, in order.
func series() [][]string {
	return [][]string{
		upTo("R%d", 108), upTo("C%02d", 21), upTo("T%d", 19), withLetters(upTo("P%d", 49), "P11", "P31", "P36", "P42"),
	}
}

func upTo(format string, last int) []string {
	out := make([]string, 0, last)
	for n := 1; n <= last; n++ {
		out = append(out, fmt.Sprintf(format, n))
	}
	return out
}

// withLetters puts "P11a" behind "P11".
func withLetters(numbers []string, lettered ...string) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, n)
		for _, l := range lettered {
			if n == l {
				out = append(out, n+"a")
			}
		}
	}
	return out
}

// candidate finds candidates; a number inside a longer word (SHA256, v1) is none.
var candidate = regexp.MustCompile(`[RCTP][0-9]{1,3}a?`)

// numbersIn reads the requirement numbers of one name. A range such as R14toR17
// names its two ends only: what a test covers it should say.
func numbersIn(name string) []string {
	var out []string
	for _, at := range candidate.FindAllStringIndex(name, -1) {
		if !continuesWord(name, at) {
			out = append(out, canonical(name[at[0]:at[1]]))
		}
	}
	return out
}

// continuesWord: another capital or digit before, or a digit after, makes it
// part of something else; "Test" and lower case before it do not.
func continuesWord(name string, at []int) bool {
	if at[0] > 0 {
		b := name[at[0]-1]
		if b >= 'A' && b <= 'Z' {
			return true
		}
	}
	return at[1] < len(name) && name[at[1]] >= '0' && name[at[1]] <= '9'
}

// canonical writes C1 as C01 and R07 as R7; a letter only the P series has.
func canonical(number string) string {
	letter, digits := number[:1], strings.TrimLeft(number[1:], "0")
	if letter != "P" {
		digits = strings.TrimSuffix(digits, "a")
	}
	if letter == "C" && len(digits) == 1 {
		digits = "0" + digits
	}
	return letter + digits
}
