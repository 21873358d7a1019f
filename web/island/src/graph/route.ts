// Where edges run: along the gaps between cards, never through a card. Points
// depend on positions alone, and positions never change, so an edge is routed once.
import type { Model } from "./core";
import type { NodeView } from "../wire";

export const cardWidth = 208;
export const cardHeight = 62;
const half = cardHeight / 2;
const lane = 20; // from a card to the middle of the gap beside it
const rowGap = 15; // from a card to the middle of the gap below it
const corner = 8;
const arrowLength = 5;
const arrowHalf = 4;

type Point = [number, number];

export interface Route {
  id: string;
  source: string;
  target: string;
  data: boolean;
  whole: string; // path with its way into the target
  stub: string; // path as far as the shared trunk; "" when this edge draws the trunk
  arrow: string;
  start: Point;
  label: string; // the field whose value flows, "" for order
  labelAt: Point; // its left end, above the target
}

// routes gives every edge of the model. Edges of one kind that come into a
// target from the same side share a trunk: the farthest draws it, others join it.
export function routes(model: Model): Route[] {
  const taken = new Set([...model.nodes.values()].map((n) => `${n.x},${n.y}`));
  const columns = [...new Set([...model.nodes.values()].map((n) => n.x))].sort((a, b) => a - b);
  const all: Route[] = [];
  for (const target of model.nodes.values()) {
    const farthest = new Map<string, number>();
    const deps = (target.deps ?? []).flatMap((dep) => {
      const source = model.nodes.get(dep.from);
      return source ? [{ dep, source }] : [];
    });
    for (const { dep, source } of deps) {
      const side = sideOf(source, target, dep.data);
      farthest.set(side, Math.max(farthest.get(side) ?? -1, Math.abs(source.y - target.y)));
    }
    const fields = deps.flatMap(({ dep }) => (dep.data && dep.field ? [dep.field] : []));
    for (const { dep, source } of deps) {
      const points = walk(source, target, columns, taken);
      const draws = Math.abs(source.y - target.y) === farthest.get(sideOf(source, target, dep.data));
      const route = routeOf(source, target, dep.data, points, draws || points.length <= 2);
      if (dep.data && dep.field === fields[0]) route.label = labelOf(fields.splice(0));
      all.push(route);
    }
  }
  return all;
}

const labelMax = 26; // characters of 12 px mono above a card

// labelOf names the fields that come into one card; the end of a long path says most.
function labelOf(fields: string[]): string {
  const more = fields.length > 1 ? ` +${fields.length - 1}` : "";
  const first = fields[0] ?? "";
  const room = labelMax - more.length;
  return (first.length > room ? `…${first.slice(1 - room)}` : first) + more;
}

function sideOf(source: NodeView, target: NodeView, data: boolean): string {
  return `${Math.sign(source.y - target.y)} ${data}`;
}

function walk(source: NodeView, target: NodeView, columns: number[], taken: Set<string>): Point[] {
  const from: Point = [source.x + cardWidth, source.y + half];
  const to: Point = [target.x - 2, target.y + half];
  const trunk = target.x - lane;
  const between = columns.filter((x) => x > source.x && x < target.x);
  if (!between.some((x) => taken.has(`${x},${source.y}`))) {
    return from[1] === to[1] ? [from, to] : [from, [trunk, from[1]], [trunk, to[1]], to];
  }
  const down = target.y >= source.y;
  const gapY = source.y + (down ? cardHeight + rowGap : -rowGap);
  const out = from[0] + lane;
  return [from, [out, from[1]], [out, gapY], [trunk, gapY], [trunk, to[1]], to];
}

function routeOf(source: NodeView, target: NodeView, data: boolean, points: Point[], draws: boolean): Route {
  const end = points[points.length - 1] ?? [0, 0];
  const arrow = `M${end[0] - arrowLength} ${end[1] - arrowHalf}L${end[0]} ${end[1]}L${end[0] - arrowLength} ${end[1] + arrowHalf}`;
  return {
    id: `${source.id}>${target.id}`, source: source.id, target: target.id, data,
    whole: rounded(points), stub: draws ? "" : rounded(points.slice(0, -2)), arrow, start: points[0] ?? [0, 0],
    label: "", labelAt: [target.x + 2, target.y - 9],
  };
}

// rounded turns corner points into a path with arcs of 8 px, less where short.
export function rounded(points: Point[]): string {
  let path = "";
  points.forEach((point, i) => {
    const before = points[i - 1];
    const after = points[i + 1];
    if (!before) { path += `M${point[0]} ${point[1]}`; return; }
    if (!after) { path += `L${point[0]} ${point[1]}`; return; }
    const r = Math.min(corner, length(before, point) / 2, length(point, after) / 2);
    const a = toward(point, before, r);
    const b = toward(point, after, r);
    path += `L${a[0]} ${a[1]}Q${point[0]} ${point[1]} ${b[0]} ${b[1]}`;
  });
  return path;
}

const length = (a: Point, b: Point): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]);

function toward(from: Point, to: Point, by: number): Point {
  return [from[0] + Math.sign(to[0] - from[0]) * by, from[1] + Math.sign(to[1] - from[1]) * by];
}
