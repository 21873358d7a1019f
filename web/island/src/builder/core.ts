// A plan being drawn, as plain data, and everything that can be done to it.
// No framework, no DOM: each operation gives a new document and leaves the old
// one as it was, so that an undo is the document before.

export interface Ref { step: string; field: string; template?: string }
export interface Guard { ref: { step: string; field: string }; op: string; value?: unknown }
export type Join = "all_of" | "any_of" | "all_done";

// Step is one declared step (P8). Keys that are not known here are kept.
export interface Step {
  id: string;
  tool: string;
  params?: Record<string, unknown>;
  param_refs?: Record<string, Ref>;
  depends_on?: string[];
  join?: Join;
  guard?: Guard;
  approval?: boolean;
  timeout_s?: number;
  retries?: number;
  why?: string;
  [key: string]: unknown;
}

export interface Plan { format: number; goal: string; max_steps?: number; steps: Step[]; [key: string]: unknown }

export type Place = readonly [number, number]; // px of a card's left top corner

// Doc is what is edited: the plan, and where its steps stand. Places are kept
// with the draft and never in the plan.
export interface Doc { readonly plan: Plan; readonly places: Readonly<Record<string, Place>> }

export interface Edge { id: string; from: string; to: string; data: boolean; fields: string[] }

export const cardWidth = 184;
export const cardHeight = 62;
export const column = 248;
export const row = 92;
export const margin = 24;
export const idPattern = /^[a-z][a-z0-9_-]{0,63}$/;

export const emptyDoc = (): Doc => ({ plan: { format: 1, goal: "", steps: [] }, places: {} });

export const stepOf = (doc: Doc, id: string): Step | undefined => doc.plan.steps.find((s) => s.id === id);

const withSteps = (doc: Doc, steps: Step[]): Doc => ({ ...doc, plan: { ...doc.plan, steps } });

// without gives an object without the keys whose value is undefined.
function without<T extends Record<string, unknown>>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

// orNone gives undefined for what would be written as an empty list or object.
const orNone = <T extends object>(value: T): T | undefined => (Object.keys(value).length > 0 ? value : undefined);

// change puts a patch over one step; undefined removes a key.
export function change(doc: Doc, id: string, patch: Partial<Step>): Doc {
  return withSteps(doc, doc.plan.steps.map((s) => (s.id === id ? without({ ...s, ...patch }) : s)));
}

export function changePlan(doc: Doc, patch: Partial<Plan>): Doc {
  return { ...doc, plan: without({ ...doc.plan, ...patch }) };
}

// sources are the steps that a step names, each once, with the fields it reads.
export function sources(step: Step): Map<string, { data: boolean; fields: string[] }> {
  const all = new Map<string, { data: boolean; fields: string[] }>();
  for (const from of step.depends_on ?? []) if (!all.has(from)) all.set(from, { data: false, fields: [] });
  const read = (ref: { step: string; field: string }): void => {
    const known = all.get(ref.step) ?? { data: true, fields: [] };
    known.data = true;
    known.fields.push(ref.field);
    all.set(ref.step, known);
  };
  for (const ref of Object.values(step.param_refs ?? {})) read(ref);
  if (step.guard) read(step.guard.ref);
  return all;
}

interface Links { edges: Edge[]; next: Map<string, string[]> }

// linked keeps what was derived of a plan: plans never change.
const linked = new WeakMap<Plan, Links>();

function linksOf(plan: Plan): Links {
  const kept = linked.get(plan);
  if (kept) return kept;
  const known = new Set(plan.steps.map((s) => s.id));
  const edges = plan.steps.flatMap((s) => [...sources(s)].flatMap(([from, how]) =>
    (known.has(from) && from !== s.id ? [{ id: `${from}>${s.id}`, from, to: s.id, ...how }] : [])));
  const next = new Map<string, string[]>();
  for (const e of edges) {
    const list = next.get(e.from);
    if (list) list.push(e.to); else next.set(e.from, [e.to]);
  }
  const links = { edges, next };
  linked.set(plan, links);
  return links;
}

export const edgesOf = (plan: Plan): Edge[] => linksOf(plan).edges;

// after gives everything that comes after a step, itself included.
export function after(plan: Plan, id: string): Set<string> {
  const { next } = linksOf(plan);
  const seen = new Set([id]);
  for (const at of seen) for (const to of next.get(at) ?? []) seen.add(to);
  return seen;
}

// joins says whether an edge may be drawn: both ends exist and no cycle comes of it.
export function canConnect(plan: Plan, from: string, to: string): boolean {
  const ids = new Set(plan.steps.map((s) => s.id));
  return from !== to && ids.has(from) && ids.has(to) && !after(plan, to).has(from);
}

export function connect(doc: Doc, from: string, to: string): Doc {
  const step = stepOf(doc, to);
  if (!step || !canConnect(doc.plan, from, to) || sources(step).has(from)) return doc;
  return change(doc, to, { depends_on: [...(step.depends_on ?? []), from] });
}

export function setParam(doc: Doc, id: string, name: string, value: unknown): Doc {
  const step = stepOf(doc, id);
  if (!step) return doc;
  const refs = { ...step.param_refs };
  delete refs[name];
  return change(doc, id, { params: orNone(without({ ...step.params, [name]: value })), param_refs: orNone(refs) });
}

export function setRef(doc: Doc, id: string, name: string, ref: Ref): Doc {
  const step = stepOf(doc, id);
  if (!step) return doc;
  const params = { ...step.params };
  delete params[name];
  return change(doc, id, { params: orNone(params), param_refs: { ...step.param_refs, [name]: without({ ...ref }) } });
}

// cut takes every mention of some steps out of one step.
function cut(step: Step, gone: (id: string) => boolean): Step {
  const depends = step.depends_on?.filter((d) => !gone(d));
  const refs = Object.entries(step.param_refs ?? {}).filter(([, ref]) => !gone(ref.step));
  const same = depends?.length === step.depends_on?.length && refs.length === Object.keys(step.param_refs ?? {}).length && !(step.guard && gone(step.guard.ref.step));
  if (same) return step;
  return without({
    ...step, depends_on: depends && orNone(depends), param_refs: orNone(Object.fromEntries(refs)),
    guard: step.guard && gone(step.guard.ref.step) ? undefined : step.guard,
  });
}

export function removeSteps(doc: Doc, ids: Iterable<string>): Doc {
  const gone = new Set(ids);
  const steps = doc.plan.steps.filter((s) => !gone.has(s.id)).map((s) => cut(s, (id) => gone.has(id)));
  const places = Object.fromEntries(Object.entries(doc.places).filter(([id]) => !gone.has(id)));
  return { plan: { ...doc.plan, steps }, places };
}

// disconnect removes an edge alone: the order, and the values that flow along it.
export function disconnect(doc: Doc, from: string, to: string): Doc {
  return withSteps(doc, doc.plan.steps.map((s) => (s.id === to ? cut(s, (id) => id === from) : s)));
}

// rename gives a step another id; everything that names it follows.
export function rename(doc: Doc, id: string, to: string): Doc {
  if (!idPattern.test(to) || id === to || stepOf(doc, to)) return doc;
  const swap = (other: string): string => (other === id ? to : other);
  const steps = doc.plan.steps.map((s) => without({
    ...s, id: swap(s.id), depends_on: s.depends_on?.map(swap),
    param_refs: s.param_refs && Object.fromEntries(Object.entries(s.param_refs).map(([name, ref]) => [name, { ...ref, step: swap(ref.step) }])),
    guard: s.guard && { ...s.guard, ref: { ...s.guard.ref, step: swap(s.guard.ref.step) } },
  }));
  const places = Object.fromEntries(Object.entries(doc.places).map(([other, at]) => [swap(other), at]));
  return { plan: { ...doc.plan, steps }, places };
}

export function move(doc: Doc, ids: Iterable<string>, dx: number, dy: number): Doc {
  const places = { ...doc.places };
  for (const id of ids) {
    const at = places[id];
    if (at) places[id] = [at[0] + dx, at[1] + dy];
  }
  return { ...doc, places };
}

// shift moves a step in the order of the list, which decides ties.
export function shift(doc: Doc, id: string, by: -1 | 1): Doc {
  const from = doc.plan.steps.findIndex((s) => s.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= doc.plan.steps.length) return doc;
  const steps = [...doc.plan.steps];
  steps.splice(to, 0, ...steps.splice(from, 1));
  return withSteps(doc, steps);
}

// freeID makes an id out of words that no step has.
export function freeID(taken: Set<string>, words: string): string {
  const base = words.toLowerCase().replace(/[^a-z0-9_-]+/g, "_").replace(/^[^a-z]+|_+$/g, "").slice(0, 56) || "step";
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) if (!taken.has(`${base}_${n}`)) return `${base}_${n}`;
}

const idsOf = (doc: Doc): Set<string> => new Set(doc.plan.steps.map((s) => s.id));

// freePlace looks for room: beside a step when there is one, else in the first column.
export function freePlace(places: Doc["places"], beside?: string): Place {
  const near = beside === undefined ? undefined : places[beside];
  const x = near ? near[0] + column : margin;
  const all = Object.values(places);
  for (let y = near ? near[1] : margin; ; y += row) {
    if (!all.some((p) => Math.abs(p[0] - x) < cardWidth + 16 && Math.abs(p[1] - y) < cardHeight + 16)) return [x, y];
  }
}

export function addStep(doc: Doc, tool: string, at?: Place, beside?: string): { doc: Doc; id: string } {
  const id = freeID(idsOf(doc), tool.split(".").pop() ?? tool);
  const places = { ...doc.places, [id]: at ?? freePlace(doc.places, beside) };
  return { doc: { plan: { ...doc.plan, steps: [...doc.plan.steps, { id, tool }] }, places }, id };
}

export interface Clip { steps: Step[]; places: Record<string, Place> }

export function copy(doc: Doc, ids: Set<string>): Clip {
  const steps = doc.plan.steps.filter((s) => ids.has(s.id));
  return { steps, places: Object.fromEntries(steps.map((s) => [s.id, doc.places[s.id] ?? [margin, margin]])) };
}

// paste puts copies in, under ids of their own. Among themselves they stay
// connected; a connection to a step that is not there is dropped.
export function paste(doc: Doc, clip: Clip): { doc: Doc; ids: string[] } {
  const taken = idsOf(doc);
  const names = new Map<string, string>();
  for (const s of clip.steps) {
    const id = freeID(taken, s.id.replace(/_\d+$/, ""));
    taken.add(id);
    names.set(s.id, id);
  }
  const swap = (id: string): string => names.get(id) ?? id;
  const known = idsOf(doc);
  const steps = clip.steps.map((s) => {
    const own = cut(s, (id) => !names.has(id) && !known.has(id));
    return without({
      ...own, id: swap(s.id), depends_on: own.depends_on?.map(swap),
      param_refs: own.param_refs && Object.fromEntries(Object.entries(own.param_refs).map(([name, ref]) => [name, { ...ref, step: swap(ref.step) }])),
      guard: own.guard && { ...own.guard, ref: { ...own.guard.ref, step: swap(own.guard.ref.step) } },
    });
  });
  const places: Record<string, Place> = { ...doc.places };
  let by = 32;
  const hits = (): boolean => Object.values(clip.places).some((p) => Object.values(doc.places).some((o) => o[0] === p[0] + by && o[1] === p[1] + by));
  while (hits()) by += 32;
  for (const s of clip.steps) {
    const at = clip.places[s.id] ?? [margin, margin];
    places[swap(s.id)] = [at[0] + by, at[1] + by];
  }
  return { doc: { plan: { ...doc.plan, steps: [...doc.plan.steps, ...steps] }, places }, ids: [...names.values()] };
}

// neighbour walks the list of steps, round the end.
export function neighbour(doc: Doc, id: string | undefined, by: 1 | -1): string | undefined {
  const ids = doc.plan.steps.map((s) => s.id);
  const at = id === undefined ? (by > 0 ? -1 : 0) : ids.indexOf(id);
  return ids[(at + by + ids.length) % ids.length];
}
