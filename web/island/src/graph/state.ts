// Hooks over the stores outside React: one node, the selection, the zoom level.
import { useSyncExternalStore } from "react";
import type { NodeView } from "../wire";
import type { GraphStore } from "./store";

// Cell is one observable value with its readers.
export class Cell<T> {
  private readers = new Set<() => void>();
  constructor(private value: T) {}
  get = (): T => this.value;
  set(value: T): void {
    if (value === this.value) return;
    this.value = value;
    for (const reader of [...this.readers]) reader();
  }
  subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  };
}

export class Board {
  readonly selected = new Cell<string | undefined>(undefined);
  readonly tabStop = new Cell<string | undefined>(undefined); // the one card that Tab reaches
  readonly far = new Cell(false); // below the level of detail
  readonly second = new Cell(0); // ticks while something runs
  constructor(readonly store: GraphStore, readonly now: () => number) {}
}

export function useNode(store: GraphStore, id: string): NodeView | undefined {
  return useSyncExternalStore((reader) => store.subscribeNode(id, reader), () => store.node(id));
}

export function useIs(cell: Cell<string | undefined>, id: string): boolean {
  return useSyncExternalStore(cell.subscribe, () => cell.get() === id);
}

// useTouches is true while the selected node is one of the two.
export function useTouches(cell: Cell<string | undefined>, a: string, b: string): boolean {
  return useSyncExternalStore(cell.subscribe, () => cell.get() === a || cell.get() === b);
}

export function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.subscribe, cell.get);
}

const still = () => () => {};

// useTick renders once a second, only where a time is going.
export function useTick(cell: Cell<number>, going: boolean): number {
  return useSyncExternalStore(going ? cell.subscribe : still, going ? cell.get : () => 0);
}
