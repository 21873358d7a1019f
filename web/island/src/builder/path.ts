// Where an edge of a drawing runs: straight through the gaps where nothing is in
// the way, else around below or above the source's row.
import { rounded } from "../graph/route";
import { cardHeight, cardWidth, type Place } from "./core";

type Point = [number, number];

const out = 20; // from a card to the lane beside it
const gap = 15; // from a card to the lane below it

// Spots are the cards in the way, by place.
export type Spots = readonly Place[];

const between = (n: number, a: number, b: number): boolean => n > Math.min(a, b) && n < Math.max(a, b);

// crosses says whether a horizontal or vertical line runs through a card.
function crosses([x1, y1]: Point, [x2, y2]: Point, spots: Spots): boolean {
  return spots.some(([x, y]) => (y1 === y2
    ? between(y1, y, y + cardHeight) && Math.max(x1, x2) > x && Math.min(x1, x2) < x + cardWidth
    : between(x1, x, x + cardWidth) && Math.max(y1, y2) > y && Math.min(y1, y2) < y + cardHeight));
}

export interface Path { line: string; arrow: string; label: Point; room: number; above: Point; pill: Point }

// pathOf draws from the right side of one card to the left side of another.
export function pathOf(from: Place, to: Place, spots: Spots): Path {
  const start: Point = [from[0] + cardWidth + 6, from[1] + cardHeight / 2];
  const end: Point = [to[0] - 7, to[1] + cardHeight / 2];
  const points = corners(start, end, spots);
  const at = longest(points);
  return {
    line: rounded(points), arrow: `M${end[0] - 5} ${end[1] - 4}L${end[0]} ${end[1]}L${end[0] - 5} ${end[1] + 4}`,
    label: [(at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2], room: at[0][1] === at[1][1] ? Math.abs(at[0][0] - at[1][0]) : 0,
    above: [to[0] + 2, to[1] - 9], pill: [end[0] - 33, end[1]],
  };
}

function corners(start: Point, end: Point, spots: Spots): Point[] {
  const lane = end[0] - out + 6;
  const simple: Point[] = start[1] === end[1] ? [start, end] : [start, [lane, start[1]], [lane, end[1]], end];
  const free = lane >= start[0] && !simple.some((p, i) => i > 0 && crosses(simple[i - 1] as Point, p, spots));
  if (free) return simple;
  const down = end[1] >= start[1];
  const y = start[1] + (down ? 1 : -1) * (cardHeight / 2 + gap);
  const first = start[0] + out - 6;
  return [start, [first, start[1]], [first, y], [lane, y], [lane, end[1]], end];
}

function longest(points: Point[]): [Point, Point] {
  let best: [Point, Point] = [points[0] as Point, points[1] as Point];
  const length = ([a, b]: [Point, Point]): number => (a[1] === b[1] ? 2 : 1) * (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]));
  points.forEach((p, i) => { if (i > 0 && length([points[i - 1] as Point, p]) > length(best)) best = [points[i - 1] as Point, p]; });
  return best;
}
