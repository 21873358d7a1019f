// The graph's state and its edges, without a browser. Run by `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { find, frontier, modelOf, neighbour, nextIn, noChange, reduce, type Model } from "../src/graph/core";
import { cardHeight, cardWidth, routes } from "../src/graph/route";
import type { Dep, NodeState, NodeView, RunView } from "../src/wire";

const run: RunView = { id: "r_1", goal: "g", status: "running", code: "", counts: {}, version: 1, seq: 0, created: 0, ended: 0, waiting: [] };

function node(id: string, column: number, row: number, deps: Dep[] = [], state: NodeState = "pending"): NodeView {
  return { id, kind: "tool", tool: "sysinfo", x: column * 248, y: row * 92, state, attempt: 0, note: "", v: 1, join: "all_of", started: 0, ended: 0, deps };
}

const order = (from: string): Dep => ({ from, data: false });
const small = (): Model => modelOf(5, { run, nodes: [node("a", 0, 0), node("b", 1, 0, [order("a")]), node("c", 1, 1, [order("a")])] });

test("P40 a batch at or below the known position changes nothing", () => {
  const model = small();
  const change = noChange();
  reduce(model, 5, [{ k: "node", id: "a", state: "executed", at: 0 }], change);
  assert.equal(model.nodes.get("a")?.state, "pending");
  assert.equal(change.nodes.size, 0);
});

test("P40 the state after a batch is that of its position", () => {
  const model = small();
  const change = noChange();
  reduce(model, 7, [{ k: "node", id: "a", state: "running", at: 0, started: 3 }, { k: "node", id: "a", state: "executed", at: 0, note: "4 mounts", ended: 9 }], change);
  assert.equal(model.seq, 7);
  const { x, y, state, note, started, ended } = model.nodes.get("a") as NodeView;
  assert.deepEqual([x, y, state, note, started, ended], [0, 0, "executed", "4 mounts", 3, 9]);
  assert.deepEqual([...change.nodes], ["a"]);
  assert.equal(change.structure, false);
});

test("a node told of twice stays where it was placed", () => {
  const model = small();
  reduce(model, 6, [{ k: "node_added", node: node("a", 9, 9) }], noChange());
  assert.equal(model.nodes.get("a")?.x, 0);
});

test("P13 a sketched card becomes a step in its place, or goes again", () => {
  const model = small();
  const change = noChange();
  const sketch = (id: string): NodeView => ({ ...node(id, 2, 0, [order("b")]), sketch: true });
  reduce(model, 6, [{ k: "node_added", node: sketch("d") }, { k: "node_added", node: { ...sketch("e"), y: 92 } }], noChange());
  assert.deepEqual(model.next.get("b"), ["d", "e"]);
  reduce(model, 7, [{ k: "node_set", node: node("d", 2, 0, [order("c")]) }, { k: "removed", id: "e" }], change);
  assert.deepEqual([...model.nodes.keys()], ["a", "b", "c", "d"]);
  assert.deepEqual([model.next.get("b"), model.next.get("c")], [undefined, ["d"]]);
  assert.deepEqual([model.nodes.get("d")?.sketch, change.structure], [undefined, true]);
});

test("an event about an unknown node is a hole and moves nothing forward", () => {
  const model = small();
  const change = noChange();
  reduce(model, 9, [{ k: "node", id: "never", state: "running", at: 0 }], change);
  assert.equal(change.hole, true);
  assert.equal(model.seq, 5);
});

test("arrows follow edges and walk columns", () => {
  const model = small();
  assert.equal(neighbour(model, "a", "right"), "b");
  assert.equal(neighbour(model, "c", "left"), "a");
  assert.equal(neighbour(model, "b", "down"), "c");
  assert.equal(neighbour(model, "b", "up"), undefined);
});

test("next in a state goes round the end; find looks at ids and tools", () => {
  const model = small();
  reduce(model, 6, [{ k: "node", id: "a", state: "failed", at: 0 }], noChange());
  assert.equal(nextIn(model, "b", ["failed"]), "a");
  assert.equal(nextIn(model, "b", ["skipped"]), undefined);
  assert.equal(find(model, " C "), "c");
  assert.equal(find(model, "sysin"), "a");
  assert.equal(frontier(model)[0]?.id, "a");
});

// points reads the corners of a path back; arcs end where they say.
function points(path: string): [number, number][] {
  return [...path.matchAll(/[ML]([-\d.]+) ([-\d.]+)|Q([-\d.]+) ([-\d.]+)/g)].map((m) => [Number(m[1] ?? m[3]), Number(m[2] ?? m[4])]);
}

function random(seed: number): () => number {
  let state = seed;
  return () => { state = (state * 1664525 + 1013904223) % 4294967296; return state / 4294967296; };
}

test("no edge leaves its lanes: horizontal parts never run through a card of the source's row", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    const nodes: NodeView[] = [];
    for (let i = 0; i < 20; i++) {
      const column = Math.floor(next() * 5);
      const row = nodes.filter((n) => n.x === column * 248).length;
      const before = nodes.filter((n) => n.x < column * 248);
      const deps = before.filter(() => next() < 0.3).map((n) => ({ from: n.id, data: next() < 0.5 }));
      nodes.push(node(`n${i}`, column, row, deps));
    }
    const model = modelOf(0, { run, nodes });
    for (const route of routes(model)) {
      const corners = points(route.whole);
      for (let i = 1; i < corners.length; i++) {
        const [x1, y1] = corners[i - 1] as [number, number];
        const [x2, y2] = corners[i] as [number, number];
        if (y1 !== y2 || Math.abs(x2 - x1) < cardWidth) continue;
        const hit = nodes.find((n) => n.x > Math.min(x1, x2) && n.x + cardWidth < Math.max(x1, x2) && y1 > n.y && y1 < n.y + cardHeight);
        assert.equal(hit, undefined, `seed ${seed}: ${route.id} runs through ${hit?.id}`);
      }
    }
  }
});

test("edges into one card from one side share a trunk that is drawn once", () => {
  const nodes = [node("a", 0, 0), node("b", 0, 1), node("c", 0, 2), node("z", 1, 4, ["a", "b", "c"].map(order))];
  const all = routes(modelOf(0, { run, nodes }));
  assert.deepEqual(all.map((r) => r.stub === ""), [true, false, false]);
});
