// The messages of the socket and the first state in the page (P40). Times are µs UTC.

export type NodeState =
  | "pending" | "ready" | "running" | "waiting_human" | "blocked"
  | "executed" | "failed_retryable" | "failed" | "skipped" | "cancelled";

export interface Dep { from: string; data: boolean; field?: string }

export interface NodeView {
  id: string;
  kind: "tool" | "planner" | "reflection";
  tool: string;
  x: number; // px of the card's left top corner; given once, never changed
  y: number;
  state: NodeState;
  attempt: number;
  note: string; // at most 14 characters
  v: number; // plan version that added it
  join: "all_of" | "any_of" | "all_done";
  started: number;
  ended: number;
  expires?: number; // while waiting
  deps: Dep[];
  approval?: string;
  sketch?: boolean; // of an answer that is still coming in
  by?: string; // of control nodes: "builtin" or "model:NAME"
  fallback?: string; // why the built-in planner acts for the model
  usage?: Usage;
}

export interface Usage { input_tokens: number; output_tokens: number; cost_micro_usd: number }

export interface RunView {
  id: string;
  goal: string;
  status: "planning" | "running" | "waiting" | "paused" | "ended";
  code: string;
  counts: Partial<Record<NodeState, number>>;
  version: number;
  seq: number;
  created: number;
  ended: number;
  waiting: string[];
}

export interface View { run: RunView; nodes: NodeView[] }

export type Event =
  | { k: "node_added"; node: NodeView }
  | { k: "node"; id: string; state: NodeState; attempt?: number; note?: string; at: number; started?: number; ended?: number; approval?: string; expires?: number; by?: string; fallback?: string; usage?: Usage }
  | { k: "node_set"; node: NodeView } // a sketched card is a step now, in its place
  | { k: "removed"; id: string } // a sketched card is gone
  | { k: "reset" }
  | { k: "run"; run: RunView }
  | { k: "version"; n: number; added: string[] };

export type Message =
  | { t: "snap"; run: string; seq: number; view: View }
  | { t: "ev"; run: string; seq: number; from?: number; e: Event[]; catching_up?: boolean }
  | { t: "inv"; k: string[] };

export interface Boot { run: string; seq: number; view: View }
