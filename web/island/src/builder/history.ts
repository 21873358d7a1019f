// Undo and redo: one entry per intent of the person.
import type { Doc } from "./core";

// Command is one thing a person did. Documents never change, so doing and
// undoing it is going to the document after or before.
export interface Command {
  label: string;
  do(): Doc;
  undo(): Doc;
}

interface Entry extends Command { burst: string; at: number; before: Doc }

const cap = 200;
const burstMillis = 1000;

export class History {
  private past: Entry[] = [];
  private future: Entry[] = [];

  get undoes(): string | undefined { return this.past.at(-1)?.label; }
  get redoes(): string | undefined { return this.future.at(-1)?.label; }
  get length(): number { return this.past.length; }

  // record remembers a change. Changes of one burst are one entry: letters typed
  // into one field, arrow keys held down, one drag (whose name begins with
  // "drag" and which has no pause).
  record(label: string, before: Doc, after: Doc, now: number, burst = ""): void {
    this.future = [];
    const last = this.past.at(-1);
    const goes = last !== undefined && burst !== "" && last.burst === burst && (burst.startsWith("drag") || now - last.at < burstMillis);
    const first = goes ? last.before : before;
    const entry: Entry = { label, burst, at: now, before: first, do: () => after, undo: () => first };
    if (goes) this.past[this.past.length - 1] = entry;
    else this.past.push(entry);
    if (this.past.length > cap) this.past.shift();
  }

  undo(): Command | undefined {
    const entry = this.past.pop();
    if (entry) this.future.push({ ...entry, burst: "" });
    return entry;
  }

  redo(): Command | undefined {
    const entry = this.future.pop();
    if (entry) this.past.push(entry);
    return entry;
  }
}
