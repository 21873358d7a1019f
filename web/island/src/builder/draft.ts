// Saving: to the draft after a pause, and at once to this browser as a net, so
// that nothing typed is lost to a reload, a lost connection or another tab.
import { emptyDoc, type Doc, type Place, type Plan } from "./core";
import { readJSON } from "./jsontext";
import { docOf, filled, shapeFault, type Slot } from "./read";
import { untitled, type Store } from "./store";
import { jsonKey, type Unread } from "./unread";
import { problemOf, send, type Draft, type DraftHead, type Problem } from "./wire";

const pauseMillis = 1200;
const netPrefix = "sluice.builder.";
const orphanMillis = 60_000;

export type Saved = "new" | "dirty" | "saving" | "saved" | "conflict" | "gone" | "failed";

interface Net { doc: Doc; name: string; revision: number; at: number; extras?: Extras }

// Extras are kept with a draft beside the places; they are no part of the plan.
interface Extras { intent?: string; scopes?: string[]; unread?: [string, Unread][] }

interface View extends Extras { places?: Record<string, Place> }

// tabID is this tab's own: it survives a reload and no other tab has it.
function tabID(): string {
  const known = sessionStorage.getItem(`${netPrefix}tab`) ?? crypto.getRandomValues(new Uint32Array(2)).join("");
  sessionStorage.setItem(`${netPrefix}tab`, known);
  return known;
}

export class Saver {
  state: Saved = "new";
  head: DraftHead | undefined;
  conflict: Problem | undefined;
  failure: Problem | undefined;
  moved: Problem | undefined; // the run's plan is another one by now
  notice = ""; // said once, when the plan was opened
  savedAt = 0; // ms of the page's clock
  base = "";
  private saved: Doc;
  private savedName = "";
  private savedExtras = "";
  private timer = 0;
  private netTimer = 0;
  private running: Promise<void> | undefined;
  private readonly tab = tabID();
  private place: string; // what the net is kept under

  constructor(private readonly store: Store, readonly announce: (text: string) => void) {
    this.saved = store.doc;
    this.savedExtras = this.extras;
    this.place = "new";
    store.onEdit = () => this.edited();
    addEventListener("pagehide", () => { if (this.unsaved) this.keepNet(); });
    addEventListener("online", () => { if (this.state === "failed") void this.save(); });
  }

  private get extras(): string { return JSON.stringify({ intent: this.store.intent, scopes: this.store.scopes, unread: [...this.store.unread] }); }

  private takeExtras({ intent, scopes, unread }: Extras): void {
    if (Array.isArray(unread)) for (const [key, held] of unread) this.store.unread.set(key, held);
    if (this.store.boot.run?.review) return; // the run has its own
    if (typeof intent === "string") this.store.intent = intent;
    const known = this.store.boot.all_scopes.map((s) => s.name);
    const kept = Array.isArray(scopes) ? scopes.filter((s) => known.includes(s)) : [];
    if (kept.length > 0) this.store.scopes = kept;
  }

  // reviewed is the run that stands at its plan and gets this one back.
  get reviewed(): NonNullable<Store["boot"]["run"]> | undefined {
    const { run } = this.store.boot;
    return run?.review && this.base.startsWith(`run:${run.id}`) ? run : undefined;
  }

  // rebase says that the plan is a change of another version of its run.
  rebase(hash: string): void {
    const { run } = this.store.boot;
    if (!run) return;
    run.base = hash;
    this.base = `run:${run.id}@${hash}`;
    this.moved = undefined;
    this.store.changed();
  }

  get unsaved(): boolean { return this.store.doc !== this.saved || this.store.name !== this.savedName || this.extras !== this.savedExtras; }

  // open starts from what the page came with, and from the net where that has more.
  async open(): Promise<void> {
    const { boot } = this.store;
    if (boot.draft) this.takeDraft(boot.draft);
    else if (boot.gone !== "") this.place = boot.gone;
    else if (boot.run && boot.plan) this.takePlan(boot.plan, `run:${boot.run.id}@${boot.run.base}`, boot.run.goal);
    else if (boot.template !== "") await this.takeTemplate(boot.template);
    else if (boot.plan && shapeFault(boot.plan) === "") this.takePlan(boot.plan, "new", "");
    const restored = this.restore();
    if (boot.gone !== "") this.notice = `There is no such draft any more: it was deleted. ${restored ? "What this browser had kept of it is here, as a draft of its own." : "Here is an empty plan."}`;
    void this.store.check();
    this.store.changed();
  }

  private takeDraft(draft: Draft): void {
    this.place = draft.id;
    this.head = { id: draft.id, revision: draft.revision, name: draft.name };
    this.base = draft.base;
    const read = readJSON(draft.doc);
    const view = readJSON(draft.view);
    const kept = "value" in view ? view.value as View | null ?? {} : {};
    const places = kept.places ?? {};
    this.takeExtras(kept);
    if ("value" in read && shapeFault(read.value) === "") this.store.doc = docOf(read.value as Plan, places);
    else this.takeUndrawn(draft.doc);
    // A draft that nobody named is called by its goal, also when that changes.
    const { goal } = this.store.doc.plan;
    this.store.name = draft.name === untitled || draft.name === goal.trim().slice(0, 120) ? "" : draft.name;
    this.mark(this.store.doc, this.store.name, this.extras);
  }

  // takeUndrawn keeps a text that cannot be drawn as it is, and shows it.
  private takeUndrawn(text: string): void {
    this.store.unread.set(jsonKey, { text, fault: this.store.takeText(text, "") });
    this.store.view = "json";
  }

  private takePlan(plan: Plan, base: string, name: string): void {
    this.place = base.split("@")[0] ?? base;
    this.base = base === "new" ? "" : base;
    this.store.doc = docOf(plan, {});
    this.store.name = name.slice(0, 120);
    this.saved = this.store.doc;
    this.savedName = this.store.name;
    this.savedExtras = this.extras;
  }

  private async takeTemplate(name: string): Promise<void> {
    try {
      const found = await send<{ plan: Plan; slots: Slot[] }>("GET", `/templates/${encodeURIComponent(name)}`);
      this.takePlan(filled(found.plan, found.slots), `template:${name}`, name);
    } catch (error) {
      this.failure = problemOf(error);
    }
  }

  // mark says that a document is what the server has.
  private mark(doc: Doc, name: string, extras: string): void {
    this.saved = doc;
    this.savedName = name;
    this.savedExtras = extras;
    this.state = "saved";
    this.savedAt = Date.now();
  }

  private settle(doc: Doc, name: string, extras: string): void {
    this.mark(doc, name, extras);
    this.dropNet();
  }

  private edited(): void {
    if (!this.isStuck) this.state = this.unsaved ? "dirty" : this.head ? "saved" : "new";
    clearTimeout(this.timer);
    if (!this.netTimer) this.netTimer = window.setTimeout(() => { this.netTimer = 0; if (this.unsaved) this.keepNet(); }, 250);
    if (this.state === "dirty") this.timer = window.setTimeout(() => void this.save(), pauseMillis);
  }

  // save writes the draft now. A save that is going on is waited for first.
  async save(): Promise<boolean> {
    clearTimeout(this.timer);
    await this.running;
    if (this.isStuck || (this.head && !this.unsaved)) return !this.isStuck;
    this.running = this.write();
    await this.running;
    this.running = undefined;
    return (this.state as Saved) === "saved" || (this.state as Saved) === "dirty";
  }

  private async write(): Promise<void> {
    const { doc, name, title } = this.store;
    const { extras } = this;
    this.state = "saving";
    this.store.changed();
    try {
      const view: View = { places: doc.places, ...JSON.parse(extras) as Extras };
      const body = { name: title, doc: JSON.stringify(doc.plan), view: JSON.stringify(view), base: this.base };
      const head = this.head
        ? await send<DraftHead>("PUT", `/drafts/${this.head.id}`, { ...body, revision: this.head.revision })
        : await send<DraftHead>("POST", "/drafts", { ...body, kind: "plan" });
      this.wrote(head);
      this.settle(doc, name, extras);
      if (this.unsaved) this.edited();
    } catch (error) {
      this.failed(problemOf(error));
    }
    this.store.changed();
  }

  private wrote(head: DraftHead): void {
    const isNew = this.head === undefined;
    this.head = { id: head.id, revision: head.revision, name: head.name };
    this.failure = undefined;
    if (isNew) {
      this.dropNet();
      this.place = head.id;
      history.replaceState(null, "", `/builder?draft=${head.id}`);
    }
  }

  // isStuck: a person has to say what becomes of the work before it is saved again.
  private get isStuck(): boolean { return this.state === "conflict" || this.state === "gone"; }

  private failed(problem: Problem): void {
    if (problem.status === 404 && this.head) {
      this.state = "gone";
      this.keepNet();
      this.announce("This draft was deleted elsewhere. What you have here is kept.");
      return;
    }
    if (problem.code === "conflict") {
      this.state = "conflict";
      this.conflict = problem;
      this.keepNet();
      this.announce("This draft was saved elsewhere. Choose which one to keep.");
      return;
    }
    this.state = "failed";
    this.failure = problem;
    this.keepNet();
    if (problem.status === 0) this.timer = window.setTimeout(() => void this.save(), 5000);
  }

  // keepMine saves what is here as a draft of its own; theirs stays as it is.
  async keepMine(): Promise<void> {
    this.dropNet();
    this.head = undefined;
    this.conflict = undefined;
    this.state = "dirty";
    this.saved = emptyDoc();
    this.store.name = `${this.store.title.slice(0, 112)} (copy)`;
    await this.save();
    this.announce("Kept as a draft of its own.");
  }

  // loadTheirs shows what was saved elsewhere; undo brings back what was here.
  async loadTheirs(): Promise<void> {
    if (!this.head) return;
    try {
      const draft = await send<Draft>("GET", `/drafts/${this.head.id}`);
      const mine = this.store.doc;
      this.conflict = undefined;
      this.store.unread.clear();
      this.takeDraft(draft);
      const theirs = this.store.doc;
      this.store.doc = mine;
      this.store.apply("Load the other version", theirs);
      this.settle(theirs, this.store.name, this.extras);
      this.announce("Loaded. Undo brings back what was here.");
    } catch (error) {
      this.failure = problemOf(error);
    }
    this.store.changed();
  }

  async remove(): Promise<boolean> {
    clearTimeout(this.timer);
    if (this.head) {
      try {
        await send("DELETE", `/drafts/${this.head.id}`, { revision: this.head.revision });
      } catch (error) {
        this.failed(problemOf(error));
        this.store.changed();
        return false;
      }
    }
    this.saved = this.store.doc;
    this.savedName = this.store.name;
    this.savedExtras = this.extras;
    this.store.unread.clear();
    this.dropNet();
    return true;
  }

  private key(tab = this.tab): string { return `${netPrefix}${this.place}.${tab}`; }

  private keepNet(): void {
    const net: Net = { doc: this.store.doc, name: this.store.name, revision: this.head?.revision ?? 0, at: Date.now(),
      extras: JSON.parse(this.extras) as Extras };
    try {
      localStorage.setItem(this.key(), JSON.stringify(net));
    } catch {
      // The browser's room is full or closed: the draft on the server is what counts.
    }
  }

  private dropNet(): void { localStorage.removeItem(this.key()); }

  // restore takes what this tab had not saved, or what a tab left that is gone.
  private restore(): boolean {
    const found = this.find();
    if (!found || shapeFault(found.doc?.plan) !== "") return false;
    const same = JSON.stringify(found.doc) === JSON.stringify(this.store.doc) && found.name === this.store.name;
    if (same && JSON.stringify(found.extras) === this.extras) return false;
    this.store.unread.clear();
    this.takeExtras(found.extras ?? {});
    if (this.head && found.revision > 0) this.head.revision = found.revision; // saving finds out whether it moved on
    this.store.name = found.name;
    this.store.apply("Restore unsaved changes", docOf(found.doc.plan, found.doc.places ?? {}));
    this.announce("Changes that were not saved are back.");
    return true;
  }

  private find(): Net | undefined {
    for (const key of [this.key(), ...Object.keys(localStorage).filter((k) => k.startsWith(`${netPrefix}${this.place}.`))]) {
      const read = readJSON(localStorage.getItem(key) ?? "");
      const net = "value" in read ? read.value as Net : undefined;
      if (!net || (key !== this.key() && Date.now() - net.at < orphanMillis)) continue;
      if (key !== this.key()) localStorage.removeItem(key);
      return net;
    }
    return undefined;
  }
}
