// Tidy: columns by what comes before, rows by the middle of the neighbours.
import { column, edgesOf, margin, row, type Place, type Plan } from "./core";

export const tidyMax = 500; // steps; above it tidying is not offered
const sweeps = 6;

// tidy gives every step a place. The same plan gives the same places.
export function tidy(plan: Plan): Record<string, Place> {
  const edges = edgesOf(plan);
  const ids = plan.steps.map((s) => s.id);
  const before = group(edges, "to", "from");
  const next = group(edges, "from", "to");
  const layers = layersOf(ids, before, next);
  for (let i = 0; i < sweeps; i++) {
    const down = i % 2 === 0;
    const order = down ? layers.slice(1) : layers.slice(0, -1).reverse();
    const at = positions(layers);
    for (const layer of order) sort(layer, down ? before : next, at);
  }
  return place(layers, before);
}

type Edges = { from: string; to: string }[];

function group(edges: Edges, by: "from" | "to", what: "from" | "to"): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const e of edges) {
    const list = all.get(e[by]) ?? [];
    list.push(e[what]);
    all.set(e[by], list);
  }
  return all;
}

// layersOf puts each step one column after the last of its predecessors; what
// lies on a cycle goes into the first column that is free of it.
function layersOf(ids: string[], before: Map<string, string[]>, next: Map<string, string[]>): string[][] {
  const waits = new Map(ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const layer = new Map<string, number>();
  const queue = ids.filter((id) => waits.get(id) === 0);
  for (const id of queue) layer.set(id, 0);
  for (let i = 0; i < queue.length; i++) {
    const id = queue[i] as string;
    for (const to of next.get(id) ?? []) {
      layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1));
      const left = (waits.get(to) ?? 0) - 1;
      waits.set(to, left);
      if (left === 0) queue.push(to);
    }
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[layer.get(id) ?? 0] ??= []).push(id);
  return Array.from(layers, (list) => list ?? []);
}

function positions(layers: string[][]): Map<string, number> {
  return new Map(layers.flatMap((layer) => layer.map((id, i) => [id, i] as const)));
}

const middle = (list: number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

function sort(layer: string[], toward: Map<string, string[]>, at: Map<string, number>): void {
  const wish = new Map(layer.map((id, i) => {
    const others = (toward.get(id) ?? []).map((o) => at.get(o) ?? 0);
    return [id, others.length > 0 ? middle(others) : i] as const;
  }));
  layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
  layer.forEach((id, i) => at.set(id, i));
}

// place puts each step as near to the middle of its predecessors as the others
// of its column let it, and the whole at the top.
function place(layers: string[][], before: Map<string, string[]>): Record<string, Place> {
  const heights = new Map<string, number>();
  for (const layer of layers) {
    const wishes = layer.map((id, i) => {
      const others = (before.get(id) ?? []).flatMap((o) => heights.get(o) ?? []);
      return others.length > 0 ? middle(others) : i * row;
    });
    spread(wishes).forEach((y, i) => heights.set(layer[i] as string, y));
  }
  const top = Math.min(...heights.values());
  return Object.fromEntries(layers.flatMap((layer, x) => layer.map((id): [string, Place] => [id, [margin + x * column, margin + (heights.get(id) ?? top) - top]])));
}

// spread keeps wished heights in their order and a row apart, with the least
// distance from the wishes: those that press on each other move as one block.
function spread(wishes: number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  wishes.forEach((wish, i) => {
    blocks.push({ sum: wish - i * row, count: 1 });
    for (let [last, above] = [blocks.at(-1), blocks.at(-2)]; last && above && above.sum / above.count > last.sum / last.count; [last, above] = [blocks.at(-1), blocks.at(-2)]) {
      blocks.splice(-2, 2, { sum: above.sum + last.sum, count: above.count + last.count });
    }
  });
  const grid = row / 2;
  return blocks.flatMap((b) => Array<number>(b.count).fill(Math.round(b.sum / b.count / grid) * grid)).map((base, i) => base + i * row);
}
