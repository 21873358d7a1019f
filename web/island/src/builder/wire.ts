// What the builder says to the server: plain requests, problems as P41 has them.
import type { Tool } from "./schema";
import type { Plan } from "./core";

export interface Finding { rule: string; severity: "error" | "warning"; step: string; pointer: string; message: string; fix: string; related?: string[] }

export interface Answer {
  step: string; index: number; class: string; effect: string; decision: "allow" | "ask" | "deny";
  open?: boolean; impact: number; impact_name: string; rules: string[]; reasons: string[];
  asks: { rule: string }[]; clear?: { rule: string; url: string }[];
}

export interface Report { ok: boolean; hash: string | null; findings: Finding[]; steps: Answer[] }

export interface DraftHead { id: string; revision: number; name: string }
export interface Draft extends DraftHead { doc: string; view: string; base: string }

export interface Problem { status: number; code: string; detail: string; fix?: string; who?: string; when?: string; revision?: number; findings?: Finding[] }

export interface Boot {
  draft: (Draft & { updated_at: string }) | null;
  gone: string; // the draft that was asked for and is not there
  run: { id: string; goal: string; base: string; review: boolean } | null;
  template: string;
  plan: Plan | null;
  intent: string;
  scopes: string[]; // that the plan starts with
  all_scopes: { name: string; tools: string[] }[]; // of the policy
  tools: Tool[];
}

export class Refused extends Error {
  constructor(readonly problem: Problem) { super(problem.detail); }
}

const unsent: Problem = { status: 0, code: "unavailable", detail: "The server cannot be reached.", fix: "Your work is kept in this browser. It is sent when the connection is back." };

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    const init: RequestInit = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    response = await fetch(`/api/v1${path}`, init);
  } catch {
    throw new Refused(unsent);
  }
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  const problem = await response.json().catch(() => ({ ...unsent, detail: `The server answered ${response.status}.` })) as Problem;
  throw new Refused({ ...problem, status: response.status });
}

export const problemOf = (error: unknown): Problem => (error instanceof Refused ? error.problem : { ...unsent, detail: String(error) });
