package planner

import "strings"

// stem gives the form under which a word is looked up: inflections of one word
// share it. It is no word to be shown.
func stem(w string) string {
	if a, is := aliases[w]; is {
		w = a
	}
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		w = strings.TrimSuffix(w, "es")
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = strings.TrimSuffix(w, "ies") + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = strings.TrimSuffix(w, "s")
	}
	if s, cut := strings.CutSuffix(w, "ing"); cut && hasVowel(s) {
		w = restore(s)
	} else if s, cut := strings.CutSuffix(w, "ied"); cut && len(s) > 1 {
		w = s + "y"
	} else if s, cut := strings.CutSuffix(w, "ed"); cut && hasVowel(s) && !strings.HasSuffix(s, "e") {
		w = restore(s)
	}
	if s, cut := strings.CutSuffix(w, "e"); cut && len(s) >= 4 {
		w = s
	}
	return w
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// restore undoes what an ending did to a short word: "runn" is run, "sav" is save.
func restore(s string) string {
	n := len(s)
	switch {
	case n > 3 && s[n-1] == s[n-2] && !strings.ContainsRune("lsz", rune(s[n-1])):
		return s[:n-1]
	case n == 2 && isVowel(s[0]) && !isVowel(s[1]):
		return s + "e"
	case n == 3 && !isVowel(s[0]) && isVowel(s[1]) && !isVowel(s[2]) && !strings.ContainsRune("wxy", rune(s[2])):
		return s + "e"
	}
	return s
}

func isVowel(b byte) bool { return strings.IndexByte("aeiou", b) >= 0 }

// known says whether some rule can account for the word.
func known(w string) bool { return vocabulary[stem(w)] }

// lookup is stem with one slip of the keyboard forgiven.
func lookup(w string) string {
	s := stem(w)
	if vocabulary[s] || len(w) < slipLettersMin {
		return s
	}
	for _, target := range slipTargets {
		if withinOneEdit(w, target) {
			return stem(target)
		}
	}
	return s
}

// vocabulary is every stem that some rule can account for.
var vocabulary = collectVocabulary()

func collectVocabulary() map[string]bool {
	all := map[string]bool{}
	add := func(set map[string]bool) {
		for w := range set { // order-free: a union of sets
			all[w] = true
		}
	}
	for _, group := range verbsOf {
		add(group.verbs)
	}
	for _, t := range topics {
		add(t.explains)
		for _, phrase := range t.heads {
			add(wordSet(strings.Join(phrase, " ")))
		}
	}
	for _, set := range []map[string]bool{fillers, questionWords, later, timeUnits, fileWords, gitWords, folders} {
		add(set)
	}
	return all
}

// slipLettersMin is the length from which a word may be one slip away from a
// known one: shorter words have too many neighbours.
const slipLettersMin = 7

// slipTargets are the words whose misspellings are worth repairing. Verbs that
// change something are not among them.
var slipTargets = strings.Fields(`environment environments variable variables process processes repository repositories filesystem
	filesystems directory directories interface interfaces listening uncommitted operating architecture partition partitions
	connection connections processor processors hostname network addresses available running deprecated credentials storage`)

// withinOneEdit says whether one insertion, deletion, change or swap of
// neighbours turns a into b.
func withinOneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
