package handlers

import (
	"strings"

	"sluice/web/templates"
)

// diffCellsMax bounds the table of a comparison: beyond it the changed part
// counts as replaced as a whole.
const diffCellsMax = 4_000_000

// Operations of a comparison.
const (
	opSame = "same"
	opAdd  = "add"
	opDel  = "del"
	opGap  = "gap"
)

// diffLines compares two texts by line; lines that only one has come with the
// number in it.
func diffLines(before, after string) []templates.DiffLine {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]templates.DiffLine, 0, len(a)+len(b)-head-tail)
	for i := range head {
		out = append(out, templates.DiffLine{Op: opSame, A: i + 1, B: i + 1, Text: a[i]})
	}
	out = append(out, diffMiddle(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for i := range tail {
		out = append(out, templates.DiffLine{Op: opSame, A: len(a) - tail + i + 1, B: len(b) - tail + i + 1, Text: a[len(a)-tail+i]})
	}
	return out
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// diffMiddle keeps the longest common subsequence; skip is how many lines both
// have before.
func diffMiddle(a, b []string, skip int) []templates.DiffLine {
	var out []templates.DiffLine
	del := func(i int) { out = append(out, templates.DiffLine{Op: opDel, A: skip + i + 1, Text: a[i]}) }
	add := func(j int) { out = append(out, templates.DiffLine{Op: opAdd, B: skip + j + 1, Text: b[j]}) }
	i, j := 0, 0
	if len(a)*len(b) <= diffCellsMax {
		length := commonLengths(a, b)
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				out = append(out, templates.DiffLine{Op: opSame, A: skip + i + 1, B: skip + j + 1, Text: a[i]})
				i, j = i+1, j+1
			case length[i+1][j] >= length[i][j+1]:
				del(i)
				i++
			default:
				add(j)
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		del(i)
	}
	for ; j < len(b); j++ {
		add(j)
	}
	return out
}

// commonLengths gives the length of the longest common subsequence of every two tails.
func commonLengths(a, b []string) [][]int32 {
	length := make([][]int32, len(a)+1)
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	for i := range length {
		length[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	return length
}

// codeLines marks the lines of a text by what changed against another. A line
// that takes the place of another is changed; what is new beyond that is added.
func codeLines(diff []templates.DiffLine) (lines []templates.CodeLine, places int) {
	removed, inPlace := 0, false
	for _, d := range diff {
		if d.Op != opSame && !inPlace {
			places++
		}
		inPlace = d.Op != opSame
		if d.Op == opDel {
			removed++
			continue
		}
		line := templates.CodeLine{N: d.B}
		switch {
		case d.Op == opAdd && removed > 0:
			line.Mark, removed = "changed", removed-1
		case d.Op == opAdd:
			line.Mark = "added"
		default:
			line.Cut, removed = removed > 0, 0
		}
		lines = append(lines, line)
	}
	return lines, places
}

// folded leaves long equal stretches out of a comparison, but for three lines
// around what changed.
func folded(diff []templates.DiffLine) []templates.DiffLine {
	const around = 3
	keep := make([]bool, len(diff))
	for i := range diff {
		if diff[i].Op == opSame {
			continue
		}
		for k := max(0, i-around); k <= min(len(diff)-1, i+around); k++ {
			keep[k] = true
		}
	}
	var out []templates.DiffLine
	for i := range diff {
		switch {
		case keep[i]:
			out = append(out, diff[i])
		case len(out) > 0 && out[len(out)-1].Op != opGap:
			out = append(out, templates.DiffLine{Op: opGap})
		}
	}
	if len(out) > 0 && out[len(out)-1].Op == opGap {
		out = out[:len(out)-1]
	}
	return out
}
