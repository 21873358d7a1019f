// The builder's state: the document with its history, what is selected, what the
// server found, and how far the draft is saved. React only reads it.
import { canConnect, changePlan, emptyDoc, stepOf, type Doc, type Plan, type Ref } from "./core";
import { fixOf, placeOf, type Fix } from "./fixes";
import { unreadFindings, type Unread } from "./unread";
import { History } from "./history";
import { docOf, shapeFault } from "./read";
import { readJSON } from "./jsontext";
import type { Tool } from "./schema";
import type { Answer, Boot, Finding, Problem, Report } from "./wire";
import { problemOf, send } from "./wire";

export type View = "canvas" | "outline" | "json";
export type Dialog = "" | "connect" | "run" | "import" | "discard";

export const untitled = "Untitled plan";

export interface Marks { errors: number; warnings: number }

export class Store {
  doc: Doc = emptyDoc();
  readonly history = new History();
  readonly tools: Map<string, Tool>;
  selected: ReadonlySet<string> = new Set();
  edge: string | undefined; // the selected edge
  view: View = "canvas";
  dialog: Dialog = "";
  intent: string;
  scopes: string[];
  name = ""; // as the person gave it, "" while nobody did
  findings: Finding[] = []; // of what is typed and cannot be read, then the server's
  readonly unread = new Map<string, Unread>(); // by "step|field", or "json"
  readonly memory = new Map<string, { value?: unknown; ref?: Ref }>(); // what a parameter held in its other kind
  answers: ReadonlyMap<string, Answer> = new Map();
  marks: ReadonlyMap<string, Marks> = new Map();
  at = -1; // the finding that F8 went to last
  resume = -1; // where F8 goes on when that one is gone
  revision = 0; // of the plan as edited
  checked = -1; // the revision that the findings are about
  ok = false;
  problem: Problem | undefined; // why the check could not be made
  onEdit = (): void => {};

  private served: Finding[] = [];
  private version = 0;
  private readers = new Set<() => void>();
  private asking = false;

  constructor(readonly boot: Boot) {
    this.tools = new Map(boot.tools.map((t) => [t.name, t]));
    this.intent = boot.intent;
    this.scopes = boot.scopes;
  }

  // title is what the plan is called as long as nobody gave it a name.
  get title(): string { return this.name.trim() || this.doc.plan.goal.trim().slice(0, 120) || untitled; }

  subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  };

  now = (): number => this.version;

  changed(): void {
    this.version++;
    for (const reader of [...this.readers]) reader();
  }

  // set changes what is seen and is no edit.
  set(patch: Partial<Pick<Store, "selected" | "edge" | "view" | "dialog" | "at">>): void {
    Object.assign(this, patch);
    this.changed();
  }

  // limit says under which intent and scopes the plan is checked and run.
  limit(patch: Partial<Pick<Store, "intent" | "scopes">>): void {
    Object.assign(this, patch);
    this.revision++;
    void this.check();
    this.onEdit();
    this.changed();
  }

  select(...ids: string[]): void { this.set({ selected: new Set(ids), edge: undefined }); }

  get only(): string | undefined { return this.selected.size === 1 ? [...this.selected][0] : undefined; }

  // apply is the one way in for an edit. A document that is the same is none.
  apply(label: string, next: Doc, burst = ""): boolean {
    if (next === this.doc) return false;
    this.history.record(label, this.doc, next, performance.now(), burst);
    this.show(next);
    return true;
  }

  // show puts a document in place without remembering it.
  show(next: Doc): void {
    const other = next.plan !== this.doc.plan;
    this.doc = next;
    const ids = new Set(next.plan.steps.map((s) => s.id));
    if ([...this.selected].some((id) => !ids.has(id))) this.selected = new Set([...this.selected].filter((id) => ids.has(id)));
    if (other) { this.revision++; void this.check(); }
    this.onEdit();
    this.changed();
  }

  undo(): string | undefined {
    const entry = this.history.undo();
    if (entry) this.show(entry.undo());
    return entry?.label;
  }

  redo(): string | undefined {
    const entry = this.history.redo();
    if (entry) this.show(entry.do());
    return entry?.label;
  }

  // rename is no step of the history: the name is not part of the plan.
  setName(name: string): void { this.name = name; this.onEdit(); this.changed(); }

  setGoal(goal: string): void { this.apply("Change the goal", changePlan(this.doc, { goal }), "goal"); }

  // hold keeps what is typed and cannot be read yet, so that it outlives its
  // field; undefined lets it go.
  hold(key: string, held: Unread | undefined): void {
    if (held === undefined ? !this.unread.delete(key) : this.unread.get(key)?.text === held.text) return;
    if (held) this.unread.set(key, held);
    this.sum();
    this.onEdit();
    this.changed();
  }

  // takeText makes a plan of a text; the answer says why not, "" when it did.
  takeText(text: string, burst: string): string {
    const read = readJSON(text);
    if ("fault" in read) return `Line ${read.fault.line}, column ${read.fault.column}: ${read.fault.message}.`;
    const fault = shapeFault(read.value);
    if (fault !== "") return `This cannot be drawn: ${fault}.`;
    this.unread.clear();
    this.apply("Edit the JSON", docOf(read.value as Plan, this.doc.places), burst);
    return "";
  }

  connectable(from: string): string[] {
    return this.doc.plan.steps.map((s) => s.id).filter((to) => canConnect(this.doc.plan, from, to));
  }

  // check asks the server at once; while an answer is on its way edits gather,
  // and the last of them is asked about next.
  async check(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    while (this.checked !== this.revision) {
      const { revision, doc } = this;
      try {
        this.take(await send<Report>("POST", "/plans/check", { plan: doc.plan, intent: this.intent, scopes: this.scopes, gate: true }), doc);
        this.problem = undefined;
      } catch (error) {
        this.refused(problemOf(error), doc);
      }
      this.checked = revision;
      this.changed();
    }
    this.asking = false;
  }

  private refused(problem: Problem, doc: Doc): void {
    this.problem = problem;
    this.take({ ok: false, hash: null, findings: problem.findings ?? [], steps: [] }, doc);
  }

  private take(report: Report, doc: Doc): void {
    this.ok = report.ok;
    // A plan in which nothing is drawn is a beginning and no fault.
    this.served = doc.plan.steps.length === 0 ? report.findings.filter((f) => f.severity === "error") : report.findings;
    this.answers = new Map(report.steps.map((a) => [a.step, a]));
    this.sum(doc);
  }

  // sum puts together what is wrong. The finding that F8 went to keeps its mark
  // wherever it stands now; where it is gone, the one after it is next.
  private sum(doc = this.doc): void {
    const last = this.findings[this.at];
    this.findings = [...unreadFindings(this.doc, this.unread), ...this.served];
    const marks = new Map<string, Marks>();
    for (const f of this.findings) {
      const id = placeOf(doc, f)?.step.id ?? f.step;
      if (id === "") continue;
      const m = marks.get(id) ?? { errors: 0, warnings: 0 };
      if (f.severity === "error") m.errors++; else m.warnings++;
      marks.set(id, m);
    }
    this.marks = marks;
    if (!last) return;
    this.resume = this.at;
    this.at = this.findings.findIndex((f) => f.rule === last.rule && f.step === last.step && f.pointer === last.pointer && f.message === last.message);
  }

  // nextAt is the finding that F8 goes to.
  nextAt(by: 1 | -1): number {
    const n = this.findings.length;
    const from = this.at >= 0 ? this.at + by : this.resume < 0 ? (by > 0 ? 0 : n - 1) : by > 0 ? this.resume : this.resume - 1;
    return (from + n) % n;
  }

  fixFor(f: Finding): Fix | undefined { return fixOf(this.doc, f, { impact: this.answers.get(f.step)?.impact_name, scopes: this.scopes, all: this.boot.all_scopes }); }

  get errors(): number { return this.findings.filter((f) => f.severity === "error").length; }

  // stepOfFinding is the step a finding is about, undefined for the whole plan.
  stepOfFinding(f: Finding): string | undefined {
    const id = placeOf(this.doc, f)?.step.id ?? f.step;
    return stepOf(this.doc, id) ? id : undefined;
  }
}
