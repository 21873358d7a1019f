// What floats over the canvas: legend, zoom bar, minimap.
import { MiniMap, useReactFlow, useStore, type MiniMapNodeProps } from "@xyflow/react";
import { calm } from "../shared";
import { Icon } from "./card";
import { lookOf } from "./look";
import { useNode, type Board } from "./state";

const motion = () => (calm() ? 0 : 160);

export function Legend() {
  return (
    <p className="legend">
      <svg width="26" height="8" aria-hidden="true"><path d="M0 4h26" /></svg>order
      <svg width="26" height="8" aria-hidden="true"><path d="M0 4h26" strokeDasharray="5 4" /></svg>data
    </p>
  );
}

export function ZoomBar() {
  const flow = useReactFlow();
  const zoom = useStore((s) => Math.round(s.transform[2] * 100));
  return (
    <div className="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom out" onClick={() => void flow.zoomOut({ duration: motion() })}><Icon name="minus" /></button>
      <span>{zoom} %</span>
      <button type="button" aria-label="Zoom in" onClick={() => void flow.zoomIn({ duration: motion() })}><Icon name="plus" /></button>
      <button type="button" aria-label="Show the whole graph" onClick={() => void flow.fitView({ duration: motion(), maxZoom: 1, padding: 0.08 })}><Icon name="fit" /></button>
    </div>
  );
}

export function makeMini(board: Board) {
  function MiniNode({ id, x, y, width, height }: MiniMapNodeProps) {
    const node = useNode(board.store, id);
    const gap = 14;
    return <rect className="mini-node" data-tone={lookOf(node?.state ?? "pending").tone} x={x} y={y + gap} width={width - gap} height={height - 2 * gap} rx={6} />;
  }
  return function Mini() {
    return <MiniMap nodeComponent={MiniNode} pannable zoomable ariaLabel="Map of the graph" style={{ width: 202, height: 114 }} offsetScale={4} />;
  };
}
