package handlers

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestP20_LinesAreMarkedAsAddedChangedAndCut(t *testing.T) {
	lines, places := codeLines(diffLines("a\nb\nc\nd\ne\n", "a\nB\nc\nnew\nd\n"))
	got := ""
	for _, l := range lines {
		got += fmt.Sprintf("%d%s%v ", l.N, l.Mark, l.Cut)
	}
	if want := "1false 2changedfalse 3false 4addedfalse 5false "; got != want || places != 3 {
		t.Errorf("got %q in %d places, want %q in 3", got, places, want)
	}
	lines, _ = codeLines(diffLines("a\nb\nc\n", "a\nc\n"))
	if len(lines) != 2 || !lines[1].Cut {
		t.Errorf("got %+v, want the cut shown above the second line", lines)
	}
	if same := folded(diffLines("a\n", "a\n")); len(same) != 0 {
		t.Errorf("got %+v, want nothing of equal texts", same)
	}
	long := strings.Repeat("x\n", 50)
	if short := folded(diffLines(long+"a\n"+long, long+"b\n"+long)); len(short) != 8 || short[3].Op != opDel {
		t.Errorf("got %d lines %+v, want three lines on each side of the change", len(short), short)
	}
}

// TestP20_ADiffRebuildsBothTexts whatever they are.
func TestP20_ADiffRebuildsBothTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 1, 12)
		before, after := strings.Join(word.Draw(t, "a"), "\n")+"\n", strings.Join(word.Draw(t, "b"), "\n")+"\n"
		var a, b []string
		for _, d := range diffLines(before, after) {
			if d.Op != opAdd {
				a = append(a, d.Text)
				if d.A != len(a) {
					t.Fatalf("got number %d, want %d", d.A, len(a))
				}
			}
			if d.Op != opDel {
				b = append(b, d.Text)
				if d.B != len(b) {
					t.Fatalf("got number %d, want %d", d.B, len(b))
				}
			}
		}
		if strings.Join(a, "\n")+"\n" != before || strings.Join(b, "\n")+"\n" != after {
			t.Fatalf("got %q and %q, want %q and %q", a, b, before, after)
		}
	})
}
