// One observable model for the whole page. Cards subscribe to their own node,
// so that a status change renders one card and nothing else.
import { modelOf, noChange, reduce, type Change, type Model } from "./core";
import type { Boot, Event, NodeView, View } from "../wire";

type Listener = () => void;

export interface Painter {
  paint(notify: () => void): void; // must leave the DOM changed when it returns
  slow(): boolean; // far zoomed out: at most ten paints a second
}

const slowMillis = 100;

export class GraphStore {
  model: Model;
  private pending: Change = noChange();
  private nodes = new Map<string, Set<Listener>>();
  private structure = new Set<Listener>();
  private painter: Painter | undefined;
  private timer = 0;
  private painted = 0;
  private fresh = new Set<string>(); // added in the batch that is being painted
  onPainted: (seq: number, change: Change) => void = () => {};

  constructor(boot: Boot) { this.model = modelOf(boot.seq, boot.view); }

  node = (id: string): NodeView | undefined => this.model.nodes.get(id);

  subscribeNode(id: string, listener: Listener): Listener {
    const set = this.nodes.get(id) ?? new Set();
    this.nodes.set(id, set.add(listener));
    return () => { set.delete(listener); if (set.size === 0) this.nodes.delete(id); };
  }

  subscribeStructure = (listener: Listener): Listener => {
    this.structure.add(listener);
    return () => this.structure.delete(listener);
  };

  // isFresh is true for a card drawn for the first time: only that one fades in.
  isFresh = (id: string): boolean => this.fresh.has(id);

  mount(painter: Painter): void { this.painter = painter; this.flush(); }

  // apply takes one batch; false means a hole, the caller must ask again.
  apply(seq: number, events: Event[]): boolean {
    reduce(this.model, seq, events, this.pending);
    const whole = !this.pending.hole;
    this.pending.hole = false;
    if (whole) this.schedule();
    else this.model.seq = 0; // known nodes stay where they are; all is told again
    return whole;
  }

  replace(seq: number, view: View): void {
    this.model = modelOf(seq, view);
    for (const id of this.model.nodes.keys()) this.pending.nodes.add(id);
    this.pending.structure = this.pending.run = true;
    this.schedule();
  }

  private schedule(): void {
    const painter = this.painter;
    if (!painter) return;
    const wait = painter.slow() ? this.painted + slowMillis - performance.now() : 0;
    if (wait <= 0) { clearTimeout(this.timer); this.timer = 0; this.flush(); return; }
    if (this.timer === 0) this.timer = window.setTimeout(() => { this.timer = 0; this.flush(); }, wait);
  }

  private flush(): void {
    const change = this.pending;
    this.pending = noChange();
    this.painted = performance.now();
    this.fresh = change.structure ? change.nodes : new Set();
    this.painter?.paint(() => {
      if (change.structure) for (const listener of [...this.structure]) listener();
      for (const id of change.nodes) for (const listener of [...(this.nodes.get(id) ?? [])]) listener();
    });
    this.fresh = new Set();
    this.onPainted(this.model.seq, change);
  }
}
