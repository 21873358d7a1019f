// One step on the canvas. The border is an SVG rectangle, so that every style
// of P2 looks the same in every browser.
import { memo, useState } from "react";
import type { NodeProps } from "@xyflow/react";
import { span, took } from "../shared";
import type { NodeView } from "../wire";
import { cardHeight, cardWidth } from "./route";
import { iconOf, lookAt, nameOf, titleOf } from "./look";
import { useCell, useIs, useNode, useTick, type Board } from "./state";

export function Icon({ name, className = "i" }: { name: string; className?: string }) {
  return <svg className={className} viewBox="0 0 16 16" aria-hidden="true"><use href={`#i-${name}`} /></svg>;
}

// Ends are where React Flow reads the ends of edges: it measures a card's
// declared handles once more when the card is mounted.
const ends = (
  <>
    <i className="end target" data-handlepos="left" />
    <i className="end source" data-handlepos="right" />
  </>
);

// widths keeps a border of any width inside the card.
const widths: Record<string, number> = { running: 2, blocked: 2, retrying: 2, failed: 3 };

function Border({ tone }: { tone: string }) {
  const w = widths[tone] ?? 1;
  return (
    <svg className="card-border" width={cardWidth} height={cardHeight} aria-hidden="true">
      <rect x={w / 2} y={w / 2} width={cardWidth - w} height={cardHeight - w} rx={8 - w / 2} strokeWidth={w} />
      {tone === "waiting" && <rect x={-3} y={-3} width={cardWidth + 6} height={cardHeight + 6} rx={10.5} strokeWidth={1} />}
      {tone === "running" && <path className="track" d={`M8 ${cardHeight - 4}h${cardWidth - 16}`} />}
      {tone === "running" && <path className="runner" d={`M8 ${cardHeight - 4}h${cardWidth - 16}`} pathLength={100} />}
    </svg>
  );
}

const hour = 3600e6; // µs

function Time({ board, node }: { board: Board; node: NodeView }) {
  const going = node.state === "running" || (node.state === "waiting_human" && Boolean(node.expires));
  useTick(board.second, going);
  if (node.state === "waiting_human") {
    const us = (node.expires ?? 0) - board.now();
    return node.expires ? <time>{us < hour ? span(us) : `${Math.floor(us / hour)} h`}</time> : null;
  }
  if (node.state === "running" && node.started > 0) {
    const us = board.now() - node.started;
    return <time>{us < 60e6 ? `${Math.max(0, Math.floor(us / 1e6))} s` : span(us)}</time>;
  }
  return node.ended > 0 && node.started > 0 ? <time>{took(node.ended - node.started)}</time> : null;
}

// Characters beside a time, and alone in a row. A longer title takes the time's
// place, then smaller letters; the whole of it is in the tooltip and the panel.
const shortTitle = 16;
const longTitle = 20;

export interface CardData extends Record<string, unknown> { board: Board; position: number; total: () => number }

export const StepCard = memo(function StepCard({ id, data }: NodeProps) {
  const { board, position, total } = data as CardData;
  const node = useNode(board.store, id);
  const selected = useIs(board.selected, id);
  const tabStop = useIs(board.tabStop, id);
  const far = useCell(board.far);
  const [fresh] = useState(() => board.store.isFresh(id));
  if (!node) return null;
  const look = lookAt(node);
  const attributes = {
    role: "group", tabIndex: tabStop ? 0 : -1, "data-node": id, "data-state": node.state, "data-tone": look.tone,
    "aria-label": nameOf(node, position, total()), "aria-current": selected || undefined,
  };
  if (far) return <div className="step-block" {...attributes}>{ends}</div>;
  const title = titleOf(node);
  const long = title.length > shortTitle;
  const note = node.state === "failed_retryable" && node.note === "" ? `try ${node.attempt + 1}` : node.note;
  return (
    <div className="step-card" data-new={fresh || undefined} {...attributes}>
      {ends}
      <Border tone={look.tone} />
      {node.v > 1 && node.v === board.store.model.version && <span className="tag step-new" data-kind="new">new in v{node.v}</span>}
      {node.join === "any_of" && <span className="step-join">any</span>}
      <span className="glyph" data-kind={node.kind}><Icon name={iconOf(node)} /></span>
      <span className="step-text">
        <span className="step-row"><b className="cut" title={title} data-long={title.length > longTitle || undefined}>{title}</b>{!long && <Time board={board} node={node} />}</span>
        <span className="step-row">
          <span className="chip" data-tone={look.tone}><Icon name={look.icon} className="i i-12" />{look.word}</span>
          {note !== "" && <span className="step-note cut">{note}</span>}
          {long && note === "" && node.state !== "waiting_human" && <Time board={board} node={node} />}
        </span>
      </span>
    </div>
  );
});
