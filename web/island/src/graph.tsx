// The graph of a run: selection, keyboard and the bridge between the store and React.
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import { ReactFlowProvider } from "@xyflow/react";
import "./graph.css";
import { Canvas, type Camera } from "./graph/canvas";
import { find, frontier, neighbour, nextIn, type Direction } from "./graph/core";
import { Board } from "./graph/state";
import { graphKey, type Shared } from "./shared";

const arrows: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

class GraphView {
  private readonly board: Board;
  private camera: Camera | undefined;
  private followed = new Set<string>();
  private over: boolean;

  constructor(private readonly shared: Shared, private readonly box: HTMLElement, store: NonNullable<Shared["store"]>) {
    this.board = new Board(store, shared.now);
    this.over = store.model.run.status === "ended" && store.model.nodes.size > 0;
    const first = box.dataset.nodeSelected;
    if (first) this.board.selected.set(first);
    this.stop(first || frontier(store.model)[0]?.id);
    createRoot(box).render(
      <ReactFlowProvider>
        <Canvas board={this.board} box={box} onCamera={(camera) => { this.camera = camera; }} onReady={() => this.start()} />
      </ReactFlowProvider>,
    );
  }

  // start runs once the canvas is drawn; from here every batch is painted whole.
  private start(): void {
    const { store } = this.board;
    store.mount({
      paint: (notify) => { flushSync(notify); this.keepTabStop(); this.followActive(); this.ended(); },
      slow: () => this.board.far.get(),
    });
    this.box.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener(graphKey, (event) => {
      if (this.key((event as CustomEvent<KeyboardEvent>).detail)) event.preventDefault();
    });
    document.addEventListener("sluice:selected", (event) => this.select((event as CustomEvent<string | undefined>).detail, false));
    document.addEventListener("submit", (event) => {
      if (!(event.target as Element).matches("[data-find]")) return;
      const found = find(store.model, document.querySelector<HTMLInputElement>("#find")?.value ?? "");
      if (found) { this.select(found); this.shared.openNode(found); }
    });
    setInterval(() => this.board.second.set(this.board.second.get() + 1), 1000);
    this.shared.ready();
  }

  private stop(id: string | undefined): void { this.board.tabStop.set(id); }

  private keepTabStop(): void {
    const at = this.board.tabStop.get();
    if (at === undefined || !this.board.store.node(at)) this.stop([...this.board.store.model.nodes.keys()][0]);
  }

  // followActive shows a step that has just begun, if the person wants that.
  private followActive(): void {
    const active = frontier(this.board.store.model).filter((n) => n.state === "running" || n.state === "waiting_human");
    const fresh = active.find((n) => !this.followed.has(n.id));
    this.followed = new Set(active.map((n) => n.id));
    if (fresh && document.querySelector<HTMLInputElement>("#follow")?.checked) this.camera?.show(fresh.id);
  }

  // ended shows the whole once a run that was followed is over.
  private ended(): void {
    if (this.over || this.board.store.model.run.status !== "ended") return;
    this.over = true;
    if (this.board.selected.get() === undefined && document.querySelector<HTMLInputElement>("#follow")?.checked) this.camera?.whole();
  }

  private clicked(event: MouseEvent): void {
    const id = (event.target as Element).closest<HTMLElement>("[data-node]")?.dataset.node;
    if (id === undefined) return;
    this.select(id);
    this.shared.openNode(id);
  }

  private select(id: string | undefined, focus = true): void {
    this.board.selected.set(id);
    if (id === undefined || !this.board.store.node(id)) return;
    this.stop(id);
    this.camera?.show(id);
    if (focus) this.focus(id, 3);
  }

  // focus waits for a card that has to be mounted first.
  private focus(id: string, tries: number): void {
    const card = this.box.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`);
    if (card) card.focus({ preventScroll: true });
    else if (tries > 0) setTimeout(() => this.focus(id, tries - 1), 80);
  }

  // key answers to one key; true means it was used.
  private key(event: KeyboardEvent): boolean {
    const target = event.target as Element;
    const here = target === document.body || this.box.contains(target) || target.id === "main";
    const { store, selected, tabStop } = this.board;
    const to = arrows[event.key];
    if (to) return here && this.step(to);
    switch (event.key) {
      case "Enter": return here && this.open(this.box.contains(target) ? (target as HTMLElement).dataset.node : selected.get());
      case "Escape": if (selected.get() === undefined) return false; this.select(undefined); this.shared.openNode(undefined); return true;
      case "f": return this.jump(nextIn(store.model, selected.get(), ["failed", "failed_retryable"]));
      case "w": return this.jump(nextIn(store.model, selected.get(), ["waiting_human"]));
      case ".": this.camera?.toggleFollow(); return true;
      case "+": case "=": this.camera?.zoom("in"); return true;
      case "-": this.camera?.zoom("out"); return true;
      case "0": this.camera?.zoom("one"); return true;
    }
    return tabStop.get() === undefined;
  }

  private step(to: Direction): boolean {
    const at = this.board.selected.get();
    const next = at === undefined ? this.board.tabStop.get() : neighbour(this.board.store.model, at, to);
    if (next !== undefined) this.select(next);
    return true;
  }

  private open(id: string | undefined): boolean {
    if (id === undefined) return false;
    this.select(id, false);
    this.shared.openNode(id);
    return true;
  }

  private jump(id: string | undefined): boolean {
    if (id === undefined) return false;
    this.select(id);
    return this.open(id);
  }
}

const shared = window.sluice;
const box = document.getElementById("graph");
if (shared?.store && box) new GraphView(shared, box, shared.store);
