// The run page around the graph: counts, position, panel, and when its parts
// are fetched again.
import type { Change } from "../graph/core";
import { GraphStore } from "../graph/store";
import type { Boot, Event, Message, RunView } from "../wire";
import { fetchInto, invalidate } from "./refresh";
import { calm } from "../shared";
import { announce } from "./notice";

const narrow = "(max-width: 639px)";
const stacked = "(max-width: 1023px)"; // the panel lies below the view

export class RunPage {
  readonly id = document.body.dataset.run ?? "";
  readonly store: GraphStore | undefined;
  private seq = Number(document.body.dataset.seq ?? 0);
  private shape = ""; // of the run's head: when it changes, the head is fetched again
  private waiting = 0;
  private from = 0; // where the page stood before the panel was scrolled to
  private ended = document.querySelector("[data-live-word]")?.textContent === "Ended";

  constructor() {
    const boot = document.getElementById("boot")?.textContent;
    if (!boot) return;
    this.store = new GraphStore(JSON.parse(boot) as Boot);
    this.seq = this.store.model.seq;
    this.waiting = this.store.model.run.waiting?.length ?? 0;
    this.store.onPainted = (seq, change) => this.painted(seq, change);
    delete document.body.dataset.seq; // nothing is drawn yet, whatever the page was rendered at
  }

  get after(): number { return this.store ? this.store.model.seq : this.seq; }

  // take handles one message; false means a hole, the caller says hello again.
  take(m: Message): boolean {
    if (m.t === "inv" || m.run !== this.id) return true;
    if (m.t === "snap") {
      this.store?.replace(m.seq, m.view);
      this.head(m.view.run, false);
      this.moved(m.seq);
      return true;
    }
    if (m.seq <= this.after) return true;
    if (m.from !== undefined && m.from > this.after) return false;
    const catchingUp = m.catching_up === true;
    const run = m.e.findLast((e): e is Extract<Event, { k: "run" }> => e.k === "run")?.run;
    if (run) this.head(run, catchingUp);
    else liveWord(catchingUp, this.ended);
    if (this.store) return this.store.apply(m.seq, m.e);
    this.moved(m.seq);
    return true;
  }

  // moved is for the views that the server renders: their parts are stale.
  private moved(seq: number): void {
    this.seq = Math.max(this.seq, seq);
    if (!this.store) invalidate(`run:${this.id}`);
  }

  private painted(seq: number, change: Change): void {
    showSeq(seq);
    const inspected = document.querySelector<HTMLElement>("[data-inspects]")?.dataset.inspects;
    if (inspected && change.nodes.has(inspected)) invalidate(`run:${this.id}`);
  }

  private head(run: RunView, catchingUp: boolean): void {
    paintCounts(run);
    this.ended = run.status === "ended";
    liveWord(catchingUp && this.behind(run), this.ended);
    const shape = [run.status, run.code, run.version, ...(run.waiting ?? [])].join();
    if (shape !== this.shape) invalidate(`run:${this.id}`, "approvals");
    this.shape = shape;
    const waits = run.waiting?.length ?? 0;
    if (waits > this.waiting) announce("A step waits for approval", true);
    else announce(summary(run));
    this.waiting = waits;
  }

  // behind: the page was rendered at a later fact than the graph has reached.
  private behind(run: RunView): boolean {
    return run.seq < Number(document.getElementById("run-head")?.dataset.seq ?? 0);
  }

  // openNode shows one node in the panel, or the run as a whole.
  async openNode(id: string | undefined, focus: boolean): Promise<void> {
    const panel = document.getElementById("run-panel");
    if (!panel) return;
    const url = new URL(location.href);
    if (id === undefined) url.searchParams.delete("node");
    else url.searchParams.set("node", id);
    history.replaceState(null, "", url);
    const view = document.querySelector<HTMLElement>(".run")?.dataset.view ?? "graph";
    panel.dataset.src = id === undefined ? `/frag/runs/${this.id}?view=${view}` : `/runs/${this.id}/nodes/${encodeURIComponent(id)}`;
    document.querySelectorAll("tr[data-node], [data-show-node]").forEach((el) => {
      const on = (el as HTMLElement).dataset.node === id || (el as HTMLElement).dataset.showNode === id;
      if (on && id !== undefined) el.setAttribute("aria-current", "true");
      else el.removeAttribute("aria-current");
    });
    const shown = await fetchInto(panel.dataset.src, [panel]);
    if (shown) this.scroll(panel, id !== undefined);
    if (shown && focus) document.getElementById("panel-title")?.focus();
  }

  // scroll brings the panel into sight where it lies below the steps, and goes
  // back to them when it is closed.
  private scroll(panel: HTMLElement, open: boolean): void {
    if (!matchMedia(stacked).matches) return;
    if (!open) { scrollTo({ top: this.from }); return; }
    const { top } = panel.getBoundingClientRect();
    if (top >= 0 && top < innerHeight / 2) return;
    this.from = scrollY;
    panel.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
  }

  // showAsked scrolls to a step that the address names.
  showAsked(): void {
    const panel = document.getElementById("run-panel");
    if (panel?.querySelector("[data-inspects]") && !location.hash && matchMedia(stacked).matches) panel.scrollIntoView({ block: "start" });
  }
}

export function showSeq(seq: number): void {
  document.body.dataset.seq = String(seq);
  const text = document.querySelector("[data-seq-text]");
  if (text) text.textContent = seq.toLocaleString("en");
}

// seqOfParts takes the position from the server-rendered view, once it is shown.
export function seqOfParts(): void {
  const shown = document.querySelector<HTMLElement>("#run-view[data-seq]")?.dataset.seq;
  if (shown) showSeq(Number(shown));
}

function liveWord(catchingUp: boolean, ended: boolean): void {
  const word = document.querySelector("[data-live-word]");
  const follow = document.querySelector<HTMLElement>("[data-follow]");
  if (follow) follow.hidden = ended && !catchingUp; // nothing moves any more
  if (word) word.textContent = catchingUp ? "Catching up" : ended ? "Ended" : "Live";
}

function paintCounts(run: RunView): void {
  document.querySelectorAll<HTMLElement>("[data-count]").forEach((el) => {
    const n = run.counts?.[el.dataset.count as keyof RunView["counts"]] ?? 0;
    el.textContent = n.toLocaleString("en");
    el.closest(".tally")?.toggleAttribute("data-zero", n === 0);
  });
}

function summary(run: RunView): string {
  const c = run.counts ?? {};
  const part = (n: number | undefined, word: string) => (n ? [`${n} ${word}`] : []);
  const said = [...part(c.executed, "done"), ...part(c.running, "running"), ...part(c.failed, "failed"), ...part(c.waiting_human, "waiting")];
  return run.status === "ended" ? `Run ended: ${run.code.toLowerCase().replaceAll("_", " ")}` : said.join(", ");
}

// listOnPhones opens a run on its list where a graph has no room, unless asked for.
export function listOnPhones(): boolean {
  const url = new URL(location.href);
  if (!document.getElementById("graph") || url.searchParams.has("view") || !matchMedia(narrow).matches) return false;
  url.searchParams.set("view", "list");
  location.replace(url);
  return true;
}
