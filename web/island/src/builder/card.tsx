// One step of a drawing: glyph, id, tool, and what is wrong with it.
import { memo } from "react";
import { Handle, Position, type NodeProps } from "@xyflow/react";
import { asksWords, type Verdict } from "./asked";
import { cardHeight, cardWidth, sources, type Step } from "./core";
import { Icon, toolIcon } from "./parts";

// CardData is what a card shows and nothing more: typing into a parameter
// changes none of it, and so draws nothing.
export interface CardData extends Record<string, unknown> {
  tool: string; name: string; note: string; tabStop: boolean; far: boolean; errors: number; warnings: number;
}

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`;

export interface Naming { index: number; total: number; errors: number; warnings: number; decision: Verdict }

// nameOf is a card's accessible name.
export function nameOf(step: Step, d: Naming): string {
  const parts = [`step ${step.id}`, `tool ${step.tool}`];
  if (d.errors > 0) parts.push(plural(d.errors, "error"));
  if (d.warnings > 0) parts.push(plural(d.warnings, "warning"));
  if (asksWords[d.decision] !== "") parts.push(asksWords[d.decision]);
  if (d.decision === "deny") parts.push("would be denied");
  parts.push(`${d.index + 1} of ${d.total}`);
  const from = [...sources(step).keys()];
  if (from.length > 0) parts.push(`after ${from.join(step.join === "any_of" ? " or " : ", ")}`);
  return parts.join(", ");
}

export function noteOf(step: Step, decision: Verdict): string {
  if (asksWords[decision] !== "") return decision === "clear" ? "clearance" : "asks";
  if (decision === "deny") return "denied";
  return step.join === "any_of" ? "any of" : step.join === "all_done" ? "all done" : "";
}

export const toneOf = (errors: number, warnings: number): string => (errors > 0 ? "error" : warnings > 0 ? "warning" : "ok");

export const BuilderCard = memo(function BuilderCard({ id, data, selected }: NodeProps) {
  const d = data as CardData;
  const tone = toneOf(d.errors, d.warnings);
  const w = tone === "error" ? 2 : 1;
  const attributes = {
    role: "group", tabIndex: d.tabStop ? 0 : -1, "data-node": id, "data-state": tone, "aria-label": d.name, "aria-current": selected || undefined,
  };
  return (
    <div className="plan-card" data-far={d.far || undefined} {...attributes}>
      <Handle type="target" position={Position.Left} />
      {!d.far && (
        <>
          <svg className="card-border" width={cardWidth} height={cardHeight} aria-hidden="true"><rect x={w / 2} y={w / 2} width={cardWidth - w} height={cardHeight - w} rx={8 - w / 2} strokeWidth={w} /></svg>
          {d.errors > 0 ? <span className="card-mark" data-kind="error"><Icon name="cross" size={12} />{d.errors}</span>
            : d.warnings > 0 && <span className="card-mark" data-kind="warning"><Icon name="warn" size={12} />{d.warnings}</span>}
          <span className="glyph"><Icon name={toolIcon(d.tool)} /></span>
          <span className="card-text">
            <b className="cut" title={id}>{id}</b>
            <span className="card-tool"><code className="cut">{d.tool}</code>{d.note !== "" && <span className="card-note">{d.note}</span>}</span>
          </span>
        </>
      )}
      <Handle type="source" position={Position.Right} />
    </div>
  );
});
