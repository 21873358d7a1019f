// What the two bundles of a run page share: live.js makes it, graph.js uses it.
import type { GraphStore } from "./graph/store";

export interface Shared {
  store?: GraphStore;
  openNode(id: string | undefined): void; // shows a node in the panel, or the overview
  now(): number; // µs UTC by the server's clock
  ready(): void;
}

declare global {
  interface Window { sluice?: Shared }
}

// Keys that a graph answers to travel as this event on the document.
export const graphKey = "sluice:graph-key";

export function span(us: number): string {
  const s = Math.max(0, Math.floor(us / 1e6));
  const two = (n: number) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

export function took(us: number): string {
  const ms = Math.max(0, Math.floor(us / 1000));
  if (ms < 100) return `${ms} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 60000 ? `${Math.round(ms / 1000)} s` : span(us);
}

export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
