package templates

import (
	"fmt"
	"strconv"
)

// Sizes of the packet's small picture in px.
const (
	miniWidth  = 176 // a card
	miniHeight = 28
	miniStep   = 36 // from row to row
	miniGap    = 48 // between columns, where the edges run
	miniMax    = 4  // cards a side; the rest is counted
	miniChars  = 22 // of a label
)

// miniCard is one placed card.
type miniCard struct {
	Node DagNode
	X, Y int
	Self bool
}

// miniEdge is one placed edge.
type miniEdge struct {
	Path string
	Data bool
	X, Y int // where a data edge starts
}

// miniPicture is the placed picture with its size.
type miniPicture struct {
	Width, Height int
	Cards         []miniCard
	Edges         []miniEdge
	Notes         []miniNote
}

// miniNote says how many steps a side leaves out.
type miniNote struct {
	X, Y int
	Text string
}

// placeMini lays a Dag out in at most three columns, each centred.
func placeMini(d Dag) miniPicture {
	before, moreBefore := cutDag(d.Before, d.MoreBefore)
	after, moreAfter := cutDag(d.After, d.MoreAfter)
	rows := max(1, len(before)+min(moreBefore, 1), len(after)+min(moreAfter, 1))
	pic := miniPicture{Height: rows*miniStep + 4}
	x := 2
	if len(before) > 0 {
		pic.column(before, x, moreBefore)
		x += miniWidth + miniGap
	}
	self := miniCard{Node: d.Self, X: x, Y: (pic.Height - miniHeight) / 2, Self: true}
	for _, c := range pic.Cards {
		pic.Edges = append(pic.Edges, miniLine(c, self, c.Node.Data))
	}
	if len(after) > 0 {
		x += miniWidth + miniGap
		first := len(pic.Cards)
		pic.column(after, x, moreAfter)
		for _, c := range pic.Cards[first:] {
			pic.Edges = append(pic.Edges, miniLine(self, c, c.Node.Data))
		}
	}
	pic.Cards = append(pic.Cards, self)
	pic.Width = x + miniWidth + 2
	return pic
}

func cutDag(list []DagNode, more int) ([]DagNode, int) {
	if len(list) > miniMax {
		return list[:miniMax], more + len(list) - miniMax
	}
	return list, more
}

func (p *miniPicture) column(list []DagNode, x, more int) {
	rows := len(list) + min(more, 1)
	top := (p.Height - rows*miniStep + miniStep - miniHeight) / 2
	for i, n := range list {
		p.Cards = append(p.Cards, miniCard{Node: n, X: x, Y: top + i*miniStep})
	}
	if more > 0 {
		p.Notes = append(p.Notes, miniNote{X: x + 10, Y: top + len(list)*miniStep + 18, Text: fmt.Sprintf("and %d more", more)})
	}
}

// miniLine is a stepped edge with an open arrow at its end.
func miniLine(from, to miniCard, data bool) miniEdge {
	x1, y1 := from.X+miniWidth, from.Y+miniHeight/2
	x2, y2 := to.X-3, to.Y+miniHeight/2
	mid := x2 - 18
	if from.Self {
		mid = x1 + 21
	}
	path := fmt.Sprintf("M%d %dH%dV%dH%d", x1, y1, mid, y2, x2)
	return miniEdge{Path: path, Data: data, X: x1, Y: y1}
}

// miniArrow is the open arrow head of an edge that ends at a card.
func miniArrow(c miniCard) string {
	x, y := c.X-3, c.Y+miniHeight/2
	return fmt.Sprintf("M%d %dL%d %dL%d %d", x-5, y-4, x, y, x-5, y+4)
}

// miniLabel is "step, tool" where both fit, else the step, cut only when that
// alone is too long.
func miniLabel(n DagNode) string {
	label := n.ID
	if both := miniName(n); len([]rune(both)) <= miniChars {
		label = both
	}
	if r := []rune(label); len(r) > miniChars {
		return string(r[:miniChars-1]) + "…"
	}
	return label
}

// miniName is the whole of what a label may have to cut.
func miniName(n DagNode) string {
	if n.Tool == "" || n.Tool == n.ID {
		return n.ID
	}
	return n.ID + ", " + n.Tool
}

// miniTitle describes the picture to somebody who does not see it.
func miniTitle(d Dag) string {
	title := "Step " + d.Self.ID
	if n := len(d.Before) + d.MoreBefore; n > 0 {
		title += " after " + plural(n, "step")
	}
	if n := len(d.After) + d.MoreAfter; n > 0 {
		title += ", before " + plural(n, "step")
	}
	return title
}

func viewBox(p miniPicture) string { return fmt.Sprintf("0 0 %d %d", p.Width, p.Height) }

func px(n int) string { return strconv.Itoa(n) }
