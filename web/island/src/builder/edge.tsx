// One edge of a drawing: order is solid, data is dashed with the field it carries.
import { memo } from "react";
import type { EdgeProps } from "@xyflow/react";
import type { Path } from "./path";

export interface EdgeData { label: string; isData: boolean; hot: boolean; fault: boolean; join: string; path: Path }

const letter = 7.2; // px, of 12 px mono

export const BuilderEdge = memo(function BuilderEdge(p: EdgeProps) {
  const d = p.data as unknown as EdgeData;
  const { line, arrow, label, room, above, pill } = d.path;
  const fits = d.label.length * letter + 20 <= room; // else it stands above the card that it enters
  const tone = d.fault ? "fault" : d.hot ? "hot" : "taken";
  return (
    <g className="edge" data-edge={tone} data-kind={d.isData ? "data" : "order"}>
      <path className="edge-hit" d={line} />
      <path className="edge-line" d={line} />
      <path d={arrow} />
      {d.label !== "" && (fits ? <text x={label[0]} y={label[1] + 4} textAnchor="middle">{d.label}</text> : <text x={above[0]} y={above[1]}>{d.label}</text>)}
      {!d.isData && d.join !== "all_of" && (
        <g className="edge-join">
          <rect x={pill[0] - 24} y={pill[1] - 10} width={48} height={20} rx={10} />
          <text x={pill[0]} y={pill[1] + 4} textAnchor="middle">{d.join === "any_of" ? "any of" : "all done"}</text>
        </g>
      )}
    </g>
  );
});
