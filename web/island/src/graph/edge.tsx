// One edge: order is solid, data is dashed with a dot where the value leaves and
// the name of its field above the card that it enters.
import { memo } from "react";
import type { EdgeProps } from "@xyflow/react";
import type { Route } from "./route";
import { useCell, useNode, useTouches, type Board } from "./state";

export interface EdgeData extends Record<string, unknown> { board: Board; route: Route }

const over = new Set(["executed", "failed", "skipped", "cancelled"]);

export const RouteEdge = memo(function RouteEdge({ data }: EdgeProps) {
  const { board, route } = data as EdgeData;
  const source = useNode(board.store, route.source);
  const target = useNode(board.store, route.target);
  const hot = useTouches(board.selected, route.source, route.target);
  const far = useCell(board.far);
  const into = target?.state === "running";
  const tone = hot ? "hot" : into ? "running" : source && over.has(source.state) ? "taken" : "later";
  const whole = hot || route.stub === "";
  return (
    <g className="edge" data-edge={tone} data-kind={route.data ? "data" : "order"}>
      <path className="edge-line" d={whole ? route.whole : route.stub} />
      {whole && <path d={route.arrow} />}
      {route.label !== "" && !far && <text x={route.labelAt[0]} y={route.labelAt[1]}>{route.label}</text>}
      {route.data && <circle cx={route.start[0]} cy={route.start[1]} r={4} />}
    </g>
  );
});
