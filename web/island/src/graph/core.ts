// The state of a run's graph as plain data. No framework, no DOM: what a batch
// does to the model is decided here and nowhere else.
import type { Event, NodeView, RunView, View } from "../wire";

export interface Model {
  seq: number;
  run: RunView;
  nodes: Map<string, NodeView>; // in the order added
  next: Map<string, string[]>; // successors
  version: number;
}

export interface Change {
  nodes: Set<string>;
  structure: boolean; // nodes were added: edges and layout must be read again
  run: boolean;
  hole: boolean; // an event speaks of a node never seen: ask again from the start
}

export function modelOf(seq: number, view: View): Model {
  const model: Model = { seq, run: view.run, nodes: new Map(), next: new Map(), version: view.run.version };
  for (const node of view.nodes) addNode(model, node);
  return model;
}

function addNode(model: Model, node: NodeView): void {
  model.nodes.set(node.id, node);
  follow(model, node);
}

// link reads all edges again.
function link(model: Model): void {
  model.next.clear();
  for (const node of model.nodes.values()) follow(model, node);
}

function follow(model: Model, node: NodeView): void {
  for (const dep of node.deps ?? []) {
    const list = model.next.get(dep.from) ?? [];
    if (!list.includes(node.id)) list.push(node.id);
    model.next.set(dep.from, list);
  }
}

export function noChange(): Change {
  return { nodes: new Set(), structure: false, run: false, hole: false };
}

// reduce applies one batch in place and says what it touched. A batch at or
// below the model's seq is old and changes nothing.
export function reduce(model: Model, seq: number, events: Event[], change: Change): void {
  if (seq <= model.seq) return;
  for (const event of events) reduceOne(model, event, change);
  if (!change.hole) model.seq = seq;
}

function reduceOne(model: Model, event: Event, change: Change): void {
  switch (event.k) {
    case "reset": // a plan of which nothing ran was replaced
      for (const id of model.nodes.keys()) change.nodes.add(id);
      model.nodes.clear();
      model.next.clear();
      change.structure = true;
      return;
    case "node_added":
      if (model.nodes.has(event.node.id)) return; // placed once, never moved
      addNode(model, event.node);
      change.structure = true;
      change.nodes.add(event.node.id);
      return;
    case "node_set":
      model.nodes.set(event.node.id, event.node); // keeps its turn among the others
      link(model);
      change.structure = true;
      change.nodes.add(event.node.id);
      return;
    case "removed":
      model.nodes.delete(event.id);
      link(model);
      change.structure = true;
      change.nodes.add(event.id);
      return;
    case "node": {
      const old = model.nodes.get(event.id);
      if (!old) { change.hole = true; return; }
      model.nodes.set(event.id, {
        ...old, state: event.state, attempt: event.attempt ?? old.attempt, note: event.note ?? old.note,
        started: event.started ?? old.started, ended: event.ended ?? old.ended,
        approval: event.approval ?? old.approval, expires: event.expires ?? old.expires,
        by: event.by ?? old.by, fallback: event.fallback ?? old.fallback, usage: event.usage ?? old.usage,
      });
      change.nodes.add(event.id);
      return;
    }
    case "run":
      model.run = event.run;
      change.run = true;
      return;
    case "version":
      model.version = event.n;
      change.structure = true;
      for (const id of event.added) change.nodes.add(id);
  }
}

const live = new Set(["running", "waiting_human", "failed_retryable"]);

// frontier gives the nodes where something happens now; else the last that did.
export function frontier(model: Model): NodeView[] {
  const all = [...model.nodes.values()];
  const active = all.filter((n) => live.has(n.state));
  if (active.length > 0) return active;
  const ready = all.filter((n) => n.state === "ready");
  if (ready.length > 0) return ready;
  return all.slice(0, 1);
}

export type Direction = "left" | "right" | "up" | "down";

// neighbour follows an edge left or right, and walks a column up or down.
export function neighbour(model: Model, id: string, to: Direction): string | undefined {
  const here = model.nodes.get(id);
  if (!here) return undefined;
  const seen = (other: string | undefined) => (other === undefined ? undefined : model.nodes.get(other));
  if (to === "left") return nearest(here, (here.deps ?? []).map((d) => seen(d.from)));
  if (to === "right") return nearest(here, (model.next.get(id) ?? []).map(seen));
  const sign = to === "up" ? -1 : 1;
  const column = [...model.nodes.values()].filter((n) => n.x === here.x && (n.y - here.y) * sign > 0);
  return nearest(here, column);
}

function nearest(from: NodeView, list: (NodeView | undefined)[]): string | undefined {
  let best: NodeView | undefined;
  for (const node of list) {
    if (node && (!best || Math.abs(node.y - from.y) < Math.abs(best.y - from.y))) best = node;
  }
  return best?.id;
}

// nextIn gives the node after `id` that is in one of the states, round the end.
export function nextIn(model: Model, id: string | undefined, states: string[]): string | undefined {
  const ids = [...model.nodes.keys()];
  const start = id === undefined ? -1 : ids.indexOf(id);
  for (let i = 1; i <= ids.length; i++) {
    const other = ids[(start + i) % ids.length];
    if (other !== undefined && states.includes(model.nodes.get(other)?.state ?? "")) return other;
  }
  return undefined;
}

// find gives the first node whose id or tool holds the words.
export function find(model: Model, words: string): string | undefined {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return undefined;
  for (const node of model.nodes.values()) {
    if (node.id.toLowerCase().includes(wanted) || node.tool.toLowerCase().includes(wanted)) return node.id;
  }
  return undefined;
}
