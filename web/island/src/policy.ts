// The policy page. The server is the only one that reads documents: every edit
// is sent as the form would send it, and the parts that show it come back. Text
// in the editor is never replaced while somebody types in it.
import { localise } from "./live/clock";
import "./policy.css";

const quiet = 160; // ms without a key before the text is checked
const calmTry = 700; // ms of a valid text before it is tried on recorded calls

const part = <T extends HTMLElement>(id: string): T | null => document.getElementById(id) as T | null;

class PolicyPage {
  private round = 0; // answers to older questions are dropped
  private edits: Promise<void> = Promise.resolve(); // changes by tables, one after the other: none is dropped
  private waiting = 0; // of them
  private checking = 0;
  private trying = 0;

  constructor(private readonly form: HTMLFormElement, private readonly text: HTMLTextAreaElement) {
    if (!("mayEdit" in form.dataset)) return;
    text.addEventListener("input", () => this.typed());
    form.querySelector("[data-call]")?.addEventListener("input", () => this.typed());
    form.addEventListener("change", (event) => {
      const cell = event.target as HTMLInputElement;
      if ("cell" in cell.dataset) this.edit(cell.name, cell.value);
    });
    form.addEventListener("submit", (event) => this.submitted(event));
    form.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "F8") { event.preventDefault(); this.goTo(event.shiftKey ? -1 : 1); }
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); part<HTMLButtonElement>("policy-save")?.click(); }
    });
    form.addEventListener("click", (event) => {
      if ((event.target as Element).closest("#policy-go")) this.goTo(1, true);
    });
    if (!part("policy-trial")?.hasAttribute("data-counted") && part("policy-places") === null) void this.try("");
  }

  private typed(): void {
    this.gutter();
    window.clearTimeout(this.checking);
    this.checking = window.setTimeout(() => void this.check(), quiet);
  }

  // gutter keeps the numbers in step until the server's marks are there.
  private gutter(): void {
    const lines = part("yaml-lines");
    if (!lines) return;
    const count = this.text.value.split("\n").length;
    this.text.rows = Math.max(count, 12);
    while (lines.children.length > count) lines.lastElementChild?.remove();
    while (lines.children.length < count) {
      const line = document.createElement("li");
      line.textContent = String(lines.children.length + 1);
      lines.append(line);
    }
  }

  // key adds with Enter beside an add button; in a cell Enter is a change.
  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key !== "Enter" || !(target instanceof HTMLInputElement) || !target.name.startsWith("new:")) return; // elsewhere Enter checks
    event.preventDefault();
    if (target.value.trim() !== "") target.closest(".policy-add")?.querySelector("button")?.click();
  }

  private submitted(event: SubmitEvent): void {
    const button = event.submitter as HTMLButtonElement | null;
    const isEdit = button !== null && (button.name === "op" || button.name === "cursor");
    if (!isEdit) return; // saving and publishing go as the browser sends them
    event.preventDefault();
    if (button.name === "cursor") void this.try(button.value);
    else if (button.value === "try") void this.try("");
    else if (button.value !== "check") this.edit(button.value, this.beside(button));
    else if (this.waiting === 0) void this.check();
  }

  private beside(button: HTMLElement): string {
    return button.closest(".policy-add")?.querySelector<HTMLInputElement>("input")?.value ?? "";
  }

  private async ask(op: string, value: string, cursor = ""): Promise<Document | null> {
    const data = new URLSearchParams();
    for (const [name, one] of new FormData(this.form)) {
      if (typeof one === "string" && !/^(set|key|new):|^(seen|op|value|cursor)$/.test(name)) data.append(name, one);
    }
    data.set("op", op);
    data.set("value", value);
    if (cursor !== "") data.set("cursor", cursor);
    try {
      const response = await fetch("/policies/edit", { method: "POST", body: data, headers: { "Sluice-Fragment": "1" } });
      if (!(response.headers.get("Content-Type") ?? "").startsWith("text/html")) return null;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      return page.getElementById("policy") ? page : null;
    } catch {
      return null; // offline: the banner says so, the next edit asks again
    }
  }

  private edit(op: string, value: string): void {
    this.waiting++;
    this.edits = this.edits.then(() => this.change(op, value)).finally(() => this.waiting--);
  }

  // change edits the text by a table. What is typed meanwhile is kept: then the
  // edit is made again on it.
  private async change(op: string, value: string): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      this.round++;
      const before = this.text.value;
      const page = await this.ask(op, value);
      const fresh = page?.getElementById("yaml") as HTMLTextAreaElement | null;
      if (!page || !fresh) return;
      if (before !== this.text.value) continue;
      this.text.value = fresh.value;
      this.gutter();
      this.round++;
      return this.show(page);
    }
  }

  private async check(): Promise<void> {
    const round = ++this.round;
    const page = await this.ask("check", "");
    if (round !== this.round) return;
    if (page) return this.show(page);
    const says = part("policy-problems");
    if (says) says.textContent = "Not checked: the server did not take the text (it may be gone, or the text too large). Nothing is lost; the next change asks again.";
  }

  private show(page: Document): void {
    window.clearTimeout(this.checking);
    window.clearTimeout(this.trying);
    this.take(page, ["policy-state", "policy-notes", "policy-tabs", "policy-tables", "yaml-lines", "policy-call", "policy-bar", "policy-diff"]);
    if (page.getElementById("policy-places") === null) this.trying = window.setTimeout(() => void this.try(""), calmTry);
  }

  private async try(cursor: string): Promise<void> {
    const round = this.round;
    const page = await this.ask("try", "", cursor);
    if (!page || round !== this.round) return;
    this.take(page, ["policy-trial"]);
    // How often each rule took part; the cells beside are left to who types in them.
    const counts = new Map([...page.querySelectorAll<HTMLElement>("[data-count]")].map((el) => [el.dataset.count, el.textContent]));
    for (const el of this.form.querySelectorAll<HTMLElement>("[data-count]")) el.textContent = counts.get(el.dataset.count) ?? "–";
  }

  // take puts fresh parts in place of the old ones; focus, typed text and what
  // is open stay.
  private take(page: Document, ids: string[]): void {
    const active = document.activeElement as HTMLElement | null;
    const name = active?.getAttribute("name") ?? "";
    const value = active instanceof HTMLButtonElement ? active.value : "";
    const id = active?.id ?? "";
    const open = [...this.form.querySelectorAll("details[open]")].map((el) => el.id);
    const reason = part<HTMLTextAreaElement>("policy-reason")?.value ?? "";
    for (const one of ids) {
      const now = part(one), fresh = page.getElementById(one);
      if (now && fresh && now.innerHTML !== fresh.innerHTML) now.innerHTML = fresh.innerHTML;
      if (now) localise(now);
    }
    for (const one of open) part(one)?.setAttribute("open", "");
    const field = part<HTMLTextAreaElement>("policy-reason");
    if (field) field.value = reason;
    this.showDiffButton();
    if (!active || active.isConnected) return;
    const again = id !== "" ? part(id) : name === "" ? null
      : this.form.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]${value === "" ? "" : `[value="${CSS.escape(value)}"]`}`);
    (again ?? part("yaml"))?.focus({ preventScroll: true });
  }

  // goTo moves to the next problem: its cell in the tables, or its line.
  private goTo(step: number, first = false): void {
    const places = [...document.querySelectorAll<HTMLElement>("#policy-places li")];
    if (places.length === 0) return;
    const at = this.text.value.slice(0, this.text.selectionStart).split("\n").length;
    const behind = places.find((p) => Number(p.dataset.line) > at), before = places.filter((p) => Number(p.dataset.line) < at).pop();
    const place = first ? places[0] : (step > 0 ? behind ?? places[0] : before ?? places[places.length - 1]);
    if (!place) return;
    const lines = this.text.value.split("\n");
    const line = Number(place.dataset.line), col = Number(place.dataset.col);
    const start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + col - 1;
    if (document.querySelector('[name="look"][value="tables"]:checked')) {
      document.querySelector<HTMLInputElement>('[name="look"][value="both"]')?.click();
    }
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[line - 1]?.slice(col - 1).match(/^[^\s,\]}]*/)?.[0].length ?? 0));
    document.querySelectorAll("#yaml-lines li")[line - 1]?.scrollIntoView({ block: "nearest" });
  }

  showDiffButton(): void {
    const button = part<HTMLButtonElement>("policy-view-diff"), diff = part<HTMLDetailsElement>("policy-diff");
    if (!button || !diff) return;
    button.setAttribute("aria-expanded", String(diff.open));
    button.textContent = diff.open ? "Hide diff" : "View diff";
  }
}

const form = part<HTMLFormElement>("policy"), text = part<HTMLTextAreaElement>("yaml");
if (form && text) {
  const page = new PolicyPage(form, text);
  form.addEventListener("click", (event) => {
    if (!(event.target as Element).closest("#policy-view-diff")) return;
    const diff = part<HTMLDetailsElement>("policy-diff");
    if (diff) diff.open = !diff.open;
    page.showDiffButton();
    if (diff?.open) diff.scrollIntoView({ block: "nearest" });
  });
  form.dataset.live = "true";
}
