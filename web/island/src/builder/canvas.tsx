// The canvas in edit mode: React Flow draws what the store has and hands back
// what the mouse did.
import { useEffect, useMemo, useRef } from "react";
import { Background, Position, ReactFlow, useReactFlow, useStore, type Connection, type Edge as FlowEdge, type EdgeChange, type Node, type NodeChange, type Viewport } from "@xyflow/react";
import { calm } from "../shared";
import type { Actions } from "./actions";
import { verdictOf } from "./asked";
import { BuilderCard, nameOf, noteOf, type CardData } from "./card";
import { canConnect, cardHeight, cardWidth, edgesOf, margin, type Doc, type Place } from "./core";
import { BuilderEdge, type EdgeData } from "./edge";
import type { Store } from "./store";
import { Icon } from "./parts";
import { Beginnings } from "./views";
import { pathOf, type Path } from "./path";

const nodeTypes = { step: BuilderCard };
const edgeTypes = { link: BuilderEdge };
const lod = 0.45;

const measured = { width: cardWidth, height: cardHeight };
const handle = { y: cardHeight / 2 - 6, width: 12, height: 12 };
const handles = [
  { ...handle, x: -6, type: "target" as const, position: Position.Left },
  { ...handle, x: cardWidth - 6, type: "source" as const, position: Position.Right },
];

// same says whether a node can be drawn as it was.
function same(old: Node | undefined, next: Node): boolean {
  if (!old || old.position.x !== next.position.x || old.position.y !== next.position.y || old.selected !== next.selected) return false;
  const a = old.data as CardData;
  const b = next.data as CardData;
  return a.tool === b.tool && a.name === b.name && a.note === b.note && a.errors === b.errors && a.warnings === b.warnings && a.tabStop === b.tabStop && a.far === b.far;
}

function nodesOf(store: Store, far: boolean, old: Map<string, Node>): Node[] {
  const { plan, places } = store.doc;
  const stop = store.only ?? [...store.selected][0] ?? plan.steps[0]?.id;
  return plan.steps.map((step, index) => {
    const at = places[step.id] ?? [margin, margin];
    const { errors, warnings } = store.marks.get(step.id) ?? { errors: 0, warnings: 0 };
    const decision = verdictOf(store.answers.get(step.id));
    const name = nameOf(step, { index, total: plan.steps.length, errors, warnings, decision });
    const data: CardData = { tool: step.tool, name, note: noteOf(step, decision), tabStop: step.id === stop, far, errors, warnings };
    const node: Node = { id: step.id, type: "step", position: { x: at[0], y: at[1] }, ...measured, measured, handles, selected: store.selected.has(step.id), data };
    const known = old.get(step.id);
    return known && same(known, node) ? known : node;
  });
}

// paths are kept as long as no card has moved.
const paths = new WeakMap<object, Map<string, Path>>();

function edgesFor(store: Store, old: Map<string, FlowEdge>): FlowEdge[] {
  const faulty = new Set(store.findings.flatMap((f) => (f.severity === "error" && f.pointer.includes("/param_refs/") ? [f.step] : [])));
  const joins = new Map(store.doc.plan.steps.map((s) => [s.id, s.join]));
  const { places } = store.doc;
  const spots = Object.values(places);
  const known = paths.get(places) ?? new Map<string, Path>();
  paths.set(places, known);
  return edgesOf(store.doc.plan).flatMap((e) => {
    const from = places[e.from];
    const to = places[e.to];
    if (!from || !to) return [];
    const hot = store.selected.has(e.from) || store.selected.has(e.to) || store.edge === e.id;
    const path = known.get(e.id) ?? pathOf(from, to, spots);
    known.set(e.id, path);
    const data: EdgeData = { label: e.data ? labelOf(e.fields) : "", isData: e.data, hot, fault: e.data && faulty.has(e.to), join: joins.get(e.to) ?? "all_of", path };
    const was = old.get(e.id);
    if (was && sameEdge(was.data as unknown as EdgeData, data)) return was;
    return { id: e.id, source: e.from, target: e.to, type: "link", focusable: false, data: data as unknown as Record<string, unknown> };
  });
}

const sameEdge = (a: EdgeData, b: EdgeData): boolean =>
  a.path.line === b.path.line && a.label === b.label && a.isData === b.isData && a.hot === b.hot && a.fault === b.fault && a.join === b.join;

// keep gives the old list where nothing in it changed, so that nothing is drawn.
const keep = <T,>(old: T[], next: T[]): T[] => (old.length === next.length && next.every((e, i) => e === old[i]) ? old : next);

const labelMax = 18;

function labelOf(fields: string[]): string {
  const more = fields.length > 1 ? ` +${fields.length - 1}` : "";
  const first = fields[0] === "" ? "all" : fields[0] ?? "";
  return (first.length > labelMax ? `…${first.slice(1 - labelMax)}` : first) + more;
}

const byID = <T extends { id: string }>(list: T[]): Map<string, T> => new Map(list.map((e) => [e.id, e]));

const whole = 0.6; // the least size at which a plan is opened whole
const readable = 0.75; // that of a larger one

// opening shows the whole plan, not above its own size; where that can not be
// read, its beginning.
function opening(doc: Doc): Viewport {
  const all = Object.values(doc.places);
  const box = document.querySelector("#builder .react-flow");
  if (all.length === 0 || !box) return { x: 0, y: 0, zoom: 1 };
  const pad = 40;
  const [left, top] = [Math.min(...all.map((p) => p[0])), Math.min(...all.map((p) => p[1]))];
  const [wide, high] = [Math.max(...all.map((p) => p[0])) + cardWidth - left, Math.max(...all.map((p) => p[1])) + cardHeight - top];
  const fit = Math.min(1, (box.clientWidth - 2 * pad) / wide, (box.clientHeight - 2 * pad) / high);
  const zoom = fit >= whole ? fit : readable;
  const first = all.filter((p) => p[0] < left + cardWidth).map((p) => p[1]);
  const y = high * zoom <= box.clientHeight - 2 * pad ? (box.clientHeight - high * zoom) / 2 - top * zoom : pad - Math.min(...first) * zoom;
  return { x: Math.max(pad, (box.clientWidth - wide * zoom) / 2) - left * zoom, y, zoom };
}

export function Canvas({ store, actions, version }: { store: Store; actions: Actions; version: number }) {
  const flow = useReactFlow();
  const far = useStore((s) => s.transform[2] < lod);
  const last = useRef<{ nodes: Node[]; edges: FlowEdge[] }>({ nodes: [], edges: [] });
  const { nodes, edges } = useMemo(() => {
    const { nodes: oldNodes, edges: oldEdges } = last.current;
    last.current = { nodes: keep(oldNodes, nodesOf(store, far, byID(oldNodes))), edges: keep(oldEdges, edgesFor(store, byID(oldEdges))) };
    return last.current;
    // The version stands for everything in the store.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [store, far, version]);

  useEffect(() => {
    const motion = (): number => (calm() ? 0 : 160);
    actions.camera = {
      show(id) {
        const at = store.doc.places[id];
        const box = document.querySelector("#builder .react-flow");
        if (!at || !box) return;
        const { x, y, zoom } = flow.getViewport();
        const left = at[0] * zoom + x;
        const top = at[1] * zoom + y;
        const seen = left >= 8 && top >= 8 && left + cardWidth * zoom <= box.clientWidth - 8 && top + cardHeight * zoom <= box.clientHeight - 8;
        if (!seen) void flow.setCenter(at[0] + cardWidth / 2, at[1] + cardHeight / 2, { zoom, duration: motion() });
      },
      open: () => setTimeout(() => void flow.setViewport(opening(store.doc)), 0),
      fit: () => setTimeout(() => void flow.fitView({ duration: motion(), maxZoom: 1, padding: 0.08 }), 0),
      zoom: (by) => void (by === "in" ? flow.zoomIn({ duration: motion() }) : flow.zoomOut({ duration: motion() })),
    };
    return () => { actions.camera = undefined; };
  }, [actions, flow, store]);

  const hands = useHands(store, actions);
  // What did not change must not reach React Flow: each new prop makes every
  // card and edge look again.
  return useMemo(() => (
    <ReactFlow
      nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} {...hands}
      minZoom={0.1} maxZoom={2} onlyRenderVisibleElements={!far} nodesFocusable={false} edgesFocusable={false} disableKeyboardA11y deleteKeyCode={null}
      zoomOnDoubleClick={false} multiSelectionKeyCode={many} selectionKeyCode="Shift" autoPanOnNodeFocus={false}
      aria-label="Canvas of the plan" proOptions={plain}
    >
      <Background gap={20} size={1} />
      <p className="legend">
        <svg width="26" height="8" aria-hidden="true"><path d="M0 4h26" /></svg>order
        <svg width="26" height="8" aria-hidden="true"><path d="M0 4h26" strokeDasharray="5 4" /></svg>data
      </p>
      <Zoom />
      {nodes.length === 0 && (
        <div className="canvas-empty"><b>Nothing is drawn yet</b><p>Press <kbd>A</kbd> and type what a tool does, or drag one in from the left. Press <kbd>?</kbd> for all keys.</p><Beginnings store={store} actions={actions} /></div>
      )}
    </ReactFlow>
  ), [nodes, edges, far, hands, store, actions]);
}

const many = ["Control", "Meta", "Shift"];
const plain = { hideAttribution: true };

// useHands is what the mouse may do, the same functions at each drawing.
function useHands(store: Store, actions: Actions) {
  const flow = useReactFlow();
  return useMemo(() => ({
    onNodesChange(changes: NodeChange[]) {
      const places: Record<string, Place> = {};
      const selected = new Set(store.selected);
      for (const c of changes) {
        if (c.type === "position" && c.position) places[c.id] = [Math.round(c.position.x), Math.round(c.position.y)];
        if (c.type === "select") { if (c.selected) selected.add(c.id); else selected.delete(c.id); }
      }
      if (Object.keys(places).length > 0) actions.drag(places);
      if (changes.some((c) => c.type === "select")) store.set({ selected, edge: undefined });
    },
    onEdgesChange(changes: EdgeChange[]) {
      for (const c of changes) if (c.type === "select" && c.selected) store.set({ edge: c.id, selected: new Set() });
    },
    onNodeDragStart() { actions.beginDrag(); },
    onConnect(c: Connection) { actions.connect(c.source, c.target); },
    isValidConnection: (c: Connection | FlowEdge) => canConnect(store.doc.plan, c.source, c.target),
    onPaneClick() { store.select(); },
    onDragOver(event: React.DragEvent) { event.preventDefault(); },
    onDrop(event: React.DragEvent) {
      const tool = event.dataTransfer.getData("text/x-sluice-tool");
      if (!store.tools.has(tool)) return;
      event.preventDefault();
      const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      actions.add(tool, [Math.round(at.x - cardWidth / 2), Math.round(at.y - cardHeight / 2)]);
    },
    onInit() { void flow.setViewport(opening(store.doc)); },
  }), [store, actions, flow]);
}

function Zoom() {
  const flow = useReactFlow();
  const zoom = useStore((s) => Math.round(s.transform[2] * 100));
  const motion = { duration: calm() ? 0 : 160 };
  return (
    <div className="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom out" onClick={() => void flow.zoomOut(motion)}><Icon name="minus" /></button>
      <span>{zoom} %</span>
      <button type="button" aria-label="Zoom in" onClick={() => void flow.zoomIn(motion)}><Icon name="plus" /></button>
      <button type="button" aria-label="Show the whole plan" onClick={() => void flow.fitView({ ...motion, maxZoom: 1, padding: 0.08 })}><Icon name="fit" /></button>
    </div>
  );
}
