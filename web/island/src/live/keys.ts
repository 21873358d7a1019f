// The keyboard, as far as pages exist. Single letters can be switched off
// (WCAG 2.1.4) and rest while somebody types.
import { graphKey } from "../shared";

const store = "sluice.keys";
let leader = -Infinity; // when "g" was pressed; a page begins at time 0
const leaderMillis = 1200;

const places: Record<string, string> = { h: "/", r: "/runs", a: "/approvals", p: "/policies", t: "/templates", b: "/builder" };
const views: Record<string, string> = { "1": "graph", "2": "list", "3": "log", "4": "verdict" };
const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

const click = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();
const focus = (selector: string): boolean => {
  const el = document.querySelector<HTMLElement>(selector);
  el?.focus();
  return el !== null;
};
const go = (path: string): void => { if (location.pathname !== path) location.assign(path); };

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])"));
}

// nextRow walks the list view or the inbox, round the end.
function nextRow(rows: HTMLElement[], step: number): HTMLElement | undefined {
  if (rows.length === 0) return undefined;
  const on = rows.findIndex((row) => row.hasAttribute("data-on") || row.contains(document.activeElement));
  if (on < 0) return step > 0 ? rows[0] : rows[rows.length - 1];
  return rows[(on + step + rows.length) % rows.length];
}

function inbox(key: string): boolean {
  if (!document.getElementById("inbox")) return false;
  if (key === "j" || key === "k") {
    const rows = [...document.querySelectorAll<HTMLElement>("[data-inbox]")];
    nextRow(rows, key === "j" ? 1 : -1)?.querySelector("a")?.click();
    return true;
  }
  if (key === "a") return focus("#approve");
  if (key !== "d") return false;
  const reason = document.querySelector<HTMLTextAreaElement>("#reason");
  return focus(reason?.value ? "#deny" : "#reason");
}

function run(event: KeyboardEvent): boolean {
  if (!document.body.dataset.run) return false;
  const view = views[event.key];
  if (view) { click(`[data-to-view="${view}"]`); return true; }
  if (document.getElementById("graph")) {
    return !document.dispatchEvent(new CustomEvent(graphKey, { detail: event, cancelable: true }));
  }
  const wanted = event.key === "f" ? "failed" : event.key === "w" ? "waiting_human" : "";
  if (wanted === "") return false;
  const row = nextRow([...document.querySelectorAll<HTMLElement>(`tr[data-state="${wanted}"]`)], 1);
  row?.querySelector("a")?.focus();
  return row !== undefined;
}

// letter answers to a single key; true means it was used.
function letter(event: KeyboardEvent): boolean {
  if (performance.now() - leader < leaderMillis && places[event.key]) { leader = -Infinity; go(places[event.key] ?? "/"); return true; }
  switch (event.key) {
    case "g": leader = performance.now(); return true;
    case "?": (document.getElementById("keys") as HTMLDialogElement | null)?.showModal(); return true;
    case "/": return focus("[data-search]");
    case "n": if (!focus("#goal")) location.assign("/#goal"); return true;
  }
  return inbox(event.key) || run(event);
}

export function startKeys(): void {
  const box = document.getElementById("keys-on") as HTMLInputElement | null;
  if (box) box.checked = localStorage.getItem(store) !== "off";
  box?.addEventListener("change", () => localStorage.setItem(store, box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      document.querySelectorAll("details[data-menu][open]").forEach((menu) => menu.removeAttribute("open"));
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    const plain = arrows.includes(event.key) || event.key === "Enter" || event.key === "Escape";
    if (plain ? run(event) : box?.checked !== false && letter(event)) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const opener = (event.target as Element).closest<HTMLElement>("[data-open]");
    const dialog = opener && document.getElementById(opener.dataset.open ?? "");
    if (dialog instanceof HTMLDialogElement) dialog.showModal();
  });
  if (location.hash === "#goal") focus("#goal");
}
