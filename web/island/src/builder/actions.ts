// What a person can do, by whatever means: each says aloud what it did.
import {
  addStep, change, changePlan, connect, copy, disconnect, move, neighbour, paste, removeSteps, rename, setRef, shift, stepOf,
  type Clip, type Place, type Ref, type Step,
} from "./core";
import type { Saver } from "./draft";
import { placeOf } from "./fixes";
import { readJSON } from "./jsontext";
import { tidy, tidyMax } from "./layout";
import { docOf, shapeFault } from "./read";
import type { Store, View } from "./store";
import type { Plan } from "./core";
import { problemOf, send, type Finding, type Problem } from "./wire";

const clipKey = "sluice.builder.clip";
const textMax = 4 << 20; // of a plan (P14)

const refusalsShown = 3;

// refusedText names the first few things for which a plan was refused.
function refusedText(problem: Problem): string {
  const errors = (problem.findings ?? []).filter((f) => f.severity === "error");
  if (errors.length < 2) return `${errors[0]?.step ? `${errors[0].step}: ` : ""}${problem.detail} ${problem.fix ?? ""}`;
  const more = errors.length > refusalsShown ? ` And ${errors.length - refusalsShown} more.` : "";
  return errors.slice(0, refusalsShown).map((f) => `${f.step || f.pointer || "Plan"}: ${f.message} ${f.fix}`).join(" ") + more;
}

export interface Camera { show(id: string): void; open(): void; fit(): void; zoom(by: "in" | "out"): void }

export class Actions {
  camera: Camera | undefined;
  private drags = 0;

  constructor(readonly store: Store, readonly saver: Saver, readonly say: (text: string) => void) {}

  private get doc() { return this.store.doc; }

  private count(): string {
    const n = this.doc.plan.steps.length;
    return `${n} ${n === 1 ? "step" : "steps"}.`;
  }

  // focus moves the keyboard to a step, where it is shown.
  focus(id: string, tries = 4): void {
    this.camera?.show(id);
    requestAnimationFrame(() => {
      const card = document.querySelector<HTMLElement>(`#builder [data-node="${CSS.escape(id)}"]`);
      if (card) card.focus({ preventScroll: this.store.view === "canvas" });
      else if (tries > 0) setTimeout(() => this.focus(id, tries - 1), 50);
    });
  }

  select(id: string, focus = true): void {
    this.store.select(id);
    if (focus) this.focus(id);
  }

  add(tool: string, at?: Place): void {
    const { doc, id } = addStep(this.doc, tool, at, this.store.only);
    this.store.apply(`Add ${id}`, doc);
    this.select(id);
    this.say(`Added ${id}, tool ${tool}. ${this.count()}`);
  }

  remove(): void {
    const { edge, selected } = this.store;
    if (edge !== undefined) {
      const [from, to] = edge.split(">") as [string, string];
      this.disconnect(from, to);
      this.store.set({ edge: undefined });
      return;
    }
    if (selected.size === 0) return;
    const ids = [...selected];
    const last = this.doc.plan.steps.findIndex((s) => s.id === ids[0]);
    this.store.apply(ids.length === 1 ? `Delete ${ids[0]}` : `Delete ${ids.length} steps`, removeSteps(this.doc, ids));
    const next = this.doc.plan.steps[Math.min(last, this.doc.plan.steps.length - 1)];
    if (next) this.select(next.id); else this.store.select();
    this.say(`Deleted ${ids.join(", ")}. ${this.count()}`);
  }

  connect(from: string, to: string): void {
    if (this.store.apply(`Connect ${from} to ${to}`, connect(this.doc, from, to))) this.say(`${to} now comes after ${from}.`);
  }

  reference(to: string, name: string, ref: Ref): void {
    if (this.store.apply(`Read ${ref.step} into ${name}`, setRef(this.doc, to, name, ref))) this.say(`${to} now reads ${ref.step}.${ref.field} into ${name}.`);
  }

  disconnect(from: string, to: string): void {
    if (this.store.apply(`Disconnect ${from} from ${to}`, disconnect(this.doc, from, to))) this.say(`${to} no longer needs ${from}.`);
  }

  change(id: string, label: string, patch: Partial<Step>, burst = ""): void { this.store.apply(label, change(this.doc, id, patch), burst); }

  // rename answers why not, "" when it did.
  rename(id: string, to: string): string {
    if (id === to) return "";
    if (stepOf(this.doc, to)) return `There is a step ${to} already.`;
    const next = rename(this.doc, id, to);
    if (next === this.doc) return "An id begins with a small letter and has small letters, digits, _ and -, at most 64.";
    this.store.selected = new Set([...this.store.selected].map((s) => (s === id ? to : s)));
    for (const [key, held] of [...this.store.unread]) {
      if (!key.startsWith(`${id}|`)) continue;
      this.store.unread.delete(key);
      this.store.unread.set(to + key.slice(id.length), held);
    }
    this.store.apply(`Rename ${id} to ${to}`, next);
    this.say(`${id} is now called ${to}. References follow.`);
    return "";
  }

  move(dx: number, dy: number): void {
    const ids = [...this.store.selected];
    if (ids.length > 0) this.store.apply(`Move ${ids.length === 1 ? ids[0] : `${ids.length} steps`}`, move(this.doc, ids, dx, dy), `move:${ids.join()}`);
  }

  beginDrag(): void { this.drags++; }

  drag(places: Record<string, Place>): void {
    this.store.apply("Move", { ...this.doc, places: { ...this.doc.places, ...places } }, `drag:${this.drags}`);
  }

  shift(id: string, by: -1 | 1): void {
    if (this.store.apply(`Move ${id} ${by < 0 ? "up" : "down"} the list`, shift(this.doc, id, by))) this.say(`${id} is now step ${this.doc.plan.steps.findIndex((s) => s.id === id) + 1}.`);
  }

  walk(by: 1 | -1): void {
    const id = neighbour(this.doc, this.store.only, by);
    if (id) this.select(id);
  }

  selectAll(): void {
    this.store.select(...this.doc.plan.steps.map((s) => s.id));
    this.say(`Selected ${this.count()}`);
  }

  copy(): boolean {
    if (this.store.selected.size === 0) return false;
    localStorage.setItem(clipKey, JSON.stringify(copy(this.doc, new Set(this.store.selected))));
    this.say(`Copied ${this.store.selected.size} ${this.store.selected.size === 1 ? "step" : "steps"}.`);
    return true;
  }

  cut(): void { if (this.copy()) this.remove(); }

  paste(): void {
    const read = readJSON(localStorage.getItem(clipKey) ?? "");
    const clip = "value" in read ? read.value as Clip : undefined;
    if (clip && shapeFault({ steps: clip.steps }) === "") this.put("Paste", clip);
  }

  duplicate(): void { if (this.store.selected.size > 0) this.put("Duplicate", copy(this.doc, new Set(this.store.selected))); }

  private put(label: string, clip: Clip): void {
    const { doc, ids } = paste(this.doc, clip);
    if (!this.store.apply(`${label} ${ids.length === 1 ? ids[0] : `${ids.length} steps`}`, doc)) return;
    this.store.select(...ids);
    if (ids[0]) this.focus(ids[0]);
    this.say(`${label === "Paste" ? "Pasted" : "Duplicated"} ${ids.join(", ")}. ${this.count()}`);
  }

  undo(): void { const what = this.store.undo(); this.say(what ? `Undone: ${what}.` : "Nothing to undo."); }

  redo(): void { const what = this.store.redo(); this.say(what ? `Redone: ${what}.` : "Nothing to redo."); }

  get canTidy(): boolean { return this.doc.plan.steps.length > 0 && this.doc.plan.steps.length <= tidyMax; }

  tidy(): void {
    if (!this.canTidy) { this.say(`Tidying works up to ${tidyMax} steps.`); return; }
    this.store.apply("Tidy", { ...this.doc, places: tidy(this.doc.plan) });
    this.camera?.fit();
    this.say("Tidied. Undo brings the old places back.");
  }

  toPalette(): void { document.getElementById("palette-search")?.focus(); }

  view(view: View): void { this.store.set({ view }); }

  // finding goes to a finding: its step is shown and the field it is about.
  finding(index: number): void {
    const f = this.store.findings[index];
    if (!f) return;
    this.store.set({ at: index });
    this.say(`Finding ${index + 1} of ${this.store.findings.length}: ${f.rule}, ${f.step === "" ? "plan" : f.step}. ${f.message} ${f.fix}`);
    const id = this.store.stepOfFinding(f);
    if (id === undefined) { this.planFinding(f, index); return; }
    this.select(id, false);
    this.camera?.show(id);
    requestAnimationFrame(() => this.focusField(f, id));
  }

  // planFinding goes to what is about the whole plan: the text, a field of the
  // plan, the steps that it names, or itself in the list.
  private planFinding(f: Finding, index: number): void {
    const related = (f.related ?? []).filter((id) => stepOf(this.doc, id));
    this.store.select(...related);
    if (f.rule === "JSON") this.store.set({ view: "json" });
    if (related[0] !== undefined) this.camera?.show(related[0]);
    const wanted = f.pointer.split("/")[1] ?? "";
    requestAnimationFrame(() => {
      const field = f.rule === "JSON" ? document.querySelector<HTMLElement>("#builder [data-json]")
        : wanted === "" ? null : document.querySelector<HTMLElement>(`#builder [data-field="${CSS.escape(wanted)}"]`);
      (field ?? document.querySelector<HTMLElement>(`#builder [data-finding="${index}"]`))?.focus();
    });
  }

  private focusField(f: Finding, id: string): void {
    const { rest } = placeOf(this.doc, f) ?? { rest: [] };
    const [part, ...path] = rest;
    const isParam = part === "params" || part === "param_refs";
    // The deepest field that there is, then what it is part of.
    const wanted = isParam ? path.map((_, i) => `param:${path.slice(0, path.length - i).join("/")}`) : [part ?? ""];
    const missing = this.store.tools.get(stepOf(this.doc, id)?.tool ?? "")?.input?.required?.find((n) => f.message.includes(`'${n}'`) || f.message.includes(`"${n}"`));
    const fields = [...document.querySelectorAll<HTMLElement>("#builder [data-field]")];
    const found = wanted.flatMap((w) => fields.filter((e) => e.dataset.field === w))[0] ?? fields.find((e) => missing !== undefined && e.dataset.field === `param:${missing}`);
    if (found) found.focus(); else this.focus(id);
  }

  nextFinding(by: 1 | -1): void {
    const n = this.store.findings.length;
    if (n === 0) { this.say("There are no findings."); return; }
    this.finding(this.store.nextAt(by));
  }

  fix(index: number): void {
    const f = this.store.findings[index];
    const fix = f && this.store.fixFor(f);
    if (!fix) return;
    if (fix.intent || fix.scopes) this.store.limit({ intent: fix.intent ?? this.store.intent, scopes: fix.scopes ?? this.store.scopes });
    this.store.apply(fix.label, fix.apply(this.doc));
    this.say(`${fix.label}: done.`);
  }

  async validate(): Promise<void> {
    await this.store.check();
    const { findings, errors, problem } = this.store;
    if (problem && findings.length === 0) this.say(problem.detail);
    else if (findings.length === 0) this.say("The plan compiles. Nothing was found.");
    else { this.say(`${errors} errors, ${findings.length - errors} warnings.`); document.getElementById("findings-title")?.focus(); }
  }

  async save(): Promise<void> {
    if (await this.saver.save()) this.say("Saved."); else this.say(this.saver.failure?.detail ?? "Not saved.");
  }

  // importText reads a plan of any form that the server reads; "" when it is drawn.
  async importText(text: string): Promise<string> {
    if (text.length > textMax) return `The text has ${text.length} characters, at most ${textMax} (4 MiB) are read.`;
    const read = readJSON(text);
    let plan = "value" in read && shapeFault(read.value) === "" ? read.value as Plan : undefined;
    if (!plan) {
      try {
        plan = (await send<{ plan: Plan }>("POST", "/plans/read", { text })).plan;
      } catch (error) {
        const problem = problemOf(error);
        return "fault" in read && text.trim().startsWith("{") ? `Line ${read.fault.line}, column ${read.fault.column}: ${read.fault.message}.` : refusedText(problem);
      }
    }
    const fault = shapeFault(plan);
    if (fault !== "") return `This cannot be drawn: ${fault}.`;
    this.store.selected = new Set();
    this.store.unread.clear();
    this.store.apply("Import a plan", docOf(plan, {}));
    this.camera?.open();
    this.say(`Imported. ${this.count()}`);
    return "";
  }

  exportFile(): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${JSON.stringify(this.doc.plan, null, 2)}\n`], { type: "application/json" }));
    link.download = `${this.store.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "plan"}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.say("The plan was exported as JSON.");
  }

  // run submits the plan like any other and goes to its run.
  async run(goal: string): Promise<Problem | undefined> {
    try {
      if (goal !== this.doc.plan.goal) this.store.apply("Change the goal", changePlan(this.doc, { goal }));
      await this.saver.save();
      const { plan } = this.doc;
      const { id } = await send<{ id: string }>("POST", "/runs", { plan, goal, intent: this.store.intent, scopes: this.store.scopes });
      location.assign(`/runs/${id}`);
    } catch (error) {
      return problemOf(error);
    }
    return undefined;
  }

  // toTemplate saves the draft and goes to where its values become slots.
  async toTemplate(): Promise<void> {
    await this.save();
    const { head } = this.saver;
    if (head && this.saver.state === "saved") location.assign(`/templates/new?draft=${head.id}`);
  }

  // saveToRun puts the plan in the place of the one that the run stands at.
  async saveToRun(): Promise<Problem | undefined> {
    const { run } = this.store.boot;
    if (!run) return undefined;
    try {
      await send("PUT", `/runs/${run.id}/plan`, { plan: this.doc.plan, base: run.base });
      await this.saver.remove();
      location.assign(`/runs/${run.id}`);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code !== "conflict") return problem;
      this.saver.moved = problem;
      this.store.changed();
    }
    return undefined;
  }

  // newest is the plan at which the run stands now.
  private async newest(): Promise<{ hash: string; source: Plan } | undefined> {
    try {
      const found = await send<{ hash: string; source: Plan; review: boolean }>("GET", `/runs/${this.store.boot.run?.id ?? ""}/plan`);
      if (found.review) return found;
      this.saver.moved = undefined;
      this.saver.failure = { status: 409, code: "conflict", detail: "The run does not stand at its plan any more.", fix: "Your drawing is kept as a draft: run it as a run of its own." };
    } catch (error) {
      this.saver.failure = problemOf(error);
    }
    this.store.changed();
    return undefined;
  }

  async loadRunPlan(): Promise<void> {
    const found = await this.newest();
    if (!found) return;
    this.saver.rebase(found.hash);
    this.store.apply("Load the run's plan", docOf(found.source, this.doc.places));
    this.say("Loaded. Undo brings back what was here.");
  }

  async replaceRunPlan(): Promise<void> {
    const found = await this.newest();
    if (!found) return;
    this.saver.rebase(found.hash);
    await this.saveToRun();
  }
}
