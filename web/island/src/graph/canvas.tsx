// The canvas: React Flow with everything declared beforehand, so that nothing
// is measured and only what is seen is mounted.
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { Background, Position, ReactFlow, useReactFlow, useStore, type Edge, type Node, type Viewport } from "@xyflow/react";
import { calm } from "../shared";
import type { NodeView } from "../wire";
import { StepCard } from "./card";
import { frontier } from "./core";
import { RouteEdge, type EdgeData } from "./edge";
import { cardHeight, cardWidth, routes, type Route } from "./route";
import type { Board } from "./state";
import { Legend, makeMini, ZoomBar } from "./tools";

const nodeTypes = { step: StepCard };
const edgeTypes = { route: RouteEdge };
const lod = 0.45;
const margin = { x: 24, y: 48 };

const measured = { width: cardWidth, height: cardHeight };
const handle = { x: 0, y: cardHeight / 2, width: 1, height: 1 };
const handles = [
  { ...handle, type: "target" as const, position: Position.Left },
  { ...handle, type: "source" as const, position: Position.Right, x: cardWidth },
];

function flowNode(board: Board, node: NodeView, position: number): Node {
  return {
    id: node.id, type: "step", position: { x: node.x, y: node.y }, ...measured, measured, handles,
    data: { board, position, total: () => board.store.model.nodes.size },
  };
}

function flowEdge(board: Board, route: Route): Edge {
  return { id: route.id, source: route.source, target: route.target, type: "route", focusable: false, selectable: false, data: { board, route } };
}

function sameEdge(old: Edge | undefined, route: Route): Edge | undefined {
  const was = (old?.data as EdgeData | undefined)?.route;
  return was && was.whole === route.whole && was.stub === route.stub ? old : undefined;
}

// samePlace: a sketched card may go and come again elsewhere.
function samePlace(old: Node | undefined, node: NodeView): Node | undefined {
  return old && old.position.x === node.x && old.position.y === node.y ? old : undefined;
}

interface Elements { nodes: Node[]; edges: Edge[] }

// useElements keeps the arrays that React Flow reads; they change only when
// nodes are added, and old entries keep their identity.
function useElements(board: Board): Elements {
  const build = useCallback((old: Elements): Elements => {
    const nodes = new Map(old.nodes.map((n) => [n.id, n]));
    const edges = new Map(old.edges.map((e) => [e.id, e]));
    return {
      nodes: [...board.store.model.nodes.values()].map((n, i) => samePlace(nodes.get(n.id), n) ?? flowNode(board, n, i + 1)),
      edges: routes(board.store.model).map((route) => sameEdge(edges.get(route.id), route) ?? flowEdge(board, route)),
    };
  }, [board]);
  const [elements, set] = useState(() => build({ nodes: [], edges: [] }));
  useEffect(() => board.store.subscribeStructure(() => set(build)), [board, build]);
  return elements;
}

const smallest = 0.25; // zoom at which an ended run is still shown whole

// whole fits everything into the view, never larger than life. What is too large
// even then starts at its beginning.
function whole(box: HTMLElement, right: number, bottom: number): Viewport {
  const zoom = Math.min(1, Math.max(smallest, Math.min((box.clientWidth - 2 * margin.x) / right, (box.clientHeight - 2 * margin.y) / bottom)));
  return { x: margin.x, y: margin.y, zoom };
}

// opening shows an ended run whole, and one at work at zoom 1: whole where it
// fits, else where work is.
function opening(board: Board, box: HTMLElement): Viewport {
  const all = [...board.store.model.nodes.values()];
  const right = Math.max(0, ...all.map((n) => n.x)) + cardWidth;
  const bottom = Math.max(0, ...all.map((n) => n.y)) + cardHeight;
  if (board.store.model.run.status === "ended") return whole(box, right, bottom);
  const at = frontier(board.store.model)[0];
  const along = (room: number, size: number, before: number, at: number, card: number): number =>
    size + 2 * before <= room || at + card + 2 * before <= room ? before : Math.round(room / 2 - at - card / 2);
  return {
    x: along(box.clientWidth, right, margin.x, at?.x ?? 0, cardWidth),
    y: along(box.clientHeight, bottom, margin.y, at?.y ?? 0, cardHeight), zoom: 1,
  };
}

export interface Camera { show(id: string): void; zoom(by: "in" | "out" | "one"): void; toggleFollow(): void; whole(): void }

// useCamera moves the view only where a step is not seen already.
function useCamera(board: Board, box: HTMLElement): Camera {
  const flow = useReactFlow();
  return useMemo(() => ({
    show(id) {
      const node = board.store.node(id);
      if (!node) return;
      const { x, y, zoom } = flow.getViewport();
      const left = node.x * zoom + x;
      const top = node.y * zoom + y;
      const seen = left >= 8 && top >= 8 && left + cardWidth * zoom <= box.clientWidth - 8 && top + cardHeight * zoom <= box.clientHeight - 8;
      if (!seen) void flow.setCenter(node.x + cardWidth / 2, node.y + cardHeight / 2, { zoom, duration: calm() ? 0 : 160 });
    },
    zoom(by) {
      const duration = calm() ? 0 : 160;
      if (by === "one") void flow.zoomTo(1, { duration });
      else void (by === "in" ? flow.zoomIn({ duration }) : flow.zoomOut({ duration }));
    },
    toggleFollow() { follow()?.click(); },
    whole() {
      const all = [...board.store.model.nodes.values()];
      const right = Math.max(0, ...all.map((n) => n.x)) + cardWidth;
      const bottom = Math.max(0, ...all.map((n) => n.y)) + cardHeight;
      void flow.setViewport(whole(box, right, bottom), { duration: calm() ? 0 : 160 });
    },
  }), [board, box, flow]);
}

const follow = (): HTMLInputElement | null => document.querySelector<HTMLInputElement>("#follow");

interface Props { board: Board; box: HTMLElement; onCamera(camera: Camera): void; onReady(): void }

export function Canvas({ board, box, onCamera, onReady }: Props) {
  const { nodes, edges } = useElements(board);
  const far = useStore((s) => s.transform[2] < lod);
  const camera = useCamera(board, box);
  const Mini = useMemo(() => makeMini(board), [board]);
  const [start] = useState(() => opening(board, box));
  useEffect(() => board.far.set(far), [board, far]);
  useEffect(() => onCamera(camera), [camera, onCamera]);
  const narrow = useSyncExternalStore(() => () => {}, () => box.clientWidth < 640);
  return (
    <ReactFlow
      nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} defaultViewport={start} onInit={onReady}
      minZoom={0.1} maxZoom={2} onlyRenderVisibleElements={!far} nodesDraggable={false} nodesConnectable={false} nodesFocusable={false}
      edgesFocusable={false} elementsSelectable={false} disableKeyboardA11y deleteKeyCode={null} zoomOnDoubleClick={false}
      aria-label="Graph of the run" proOptions={{ hideAttribution: true }}
      onMoveStart={(event) => { const box = follow(); if (event && box) box.checked = false; }}
    >
      <Background gap={20} size={1} />
      <Legend />
      {!narrow && <Mini />}
      <ZoomBar />
      {nodes.length === 0 && <p className="graph-wait">The planner is at work. Steps appear here as they are added.</p>}
    </ReactFlow>
  );
}
