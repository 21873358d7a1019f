// How a node looks: the same icons, words and tones as the server's pages.
import type { NodeState, NodeView } from "../wire";

export interface Look { icon: string; word: string; tone: string }

const looks: Record<NodeState, Look> = {
  pending: { icon: "pending", word: "Pending", tone: "pending" },
  ready: { icon: "ready", word: "Ready", tone: "ready" },
  running: { icon: "play", word: "Running", tone: "running" },
  waiting_human: { icon: "hand", word: "Waiting for you", tone: "waiting" },
  blocked: { icon: "pause", word: "Blocked", tone: "blocked" },
  executed: { icon: "check", word: "Done", tone: "done" },
  failed_retryable: { icon: "retry", word: "Retrying", tone: "retrying" },
  failed: { icon: "cross", word: "Failed", tone: "failed" },
  skipped: { icon: "skip", word: "Skipped", tone: "skipped" },
  cancelled: { icon: "ban", word: "Cancelled", tone: "cancelled" },
};

export const lookOf = (state: NodeState): Look => looks[state] ?? looks.pending;

// lookAt tells a step that is only sketched from one that is planned.
export const lookAt = (node: NodeView): Look => node.sketch ? { ...looks.pending, word: "Sketched" } : lookOf(node.state);

const tools: Record<string, string> = {
  sysinfo: "cpu", disk_usage: "drive", net_info: "net", process_list: "list", env_list: "key", shell: "terminal", compute: "func",
  "file.list": "list", "file.delete": "trash", "file.write": "pencil", "file.patch": "pencil", "file.search": "search",
};
const families: Record<string, string> = { git: "git", file: "file", web: "globe", http: "globe", mail: "mail" };

export function iconOf(node: NodeView): string {
  if (node.kind === "planner") return "fork";
  if (node.kind === "reflection") return "reflect";
  return tools[node.tool] ?? families[node.tool.split(".")[0] ?? ""] ?? "terminal";
}

// titleOf shortens the ids of control nodes, which only the kernel writes.
export const titleOf = (node: NodeView): string => node.id.replace(/^kernel\./, "");

// nameOf is a card's accessible name: kind, label, state, position.
export function nameOf(node: NodeView, position: number, total: number): string {
  const inputs = (node.deps ?? []).filter((d) => d.data).length;
  const parts = [node.kind, titleOf(node), lookAt(node).word.toLowerCase(), `step ${position} of ${total}`];
  if (inputs > 0) parts.push(`${inputs} ${inputs === 1 ? "input" : "inputs"}`);
  return parts.join(", ");
}
