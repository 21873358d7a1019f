// Refetching parts of a page. An element with an id and `data-refresh="key …"`
// is fetched again from `data-src` (or the page itself) when a key is declared
// stale, and replaced without losing focus, selection, typed text or open parts.
import { localise } from "./clock";

const stale = new Set<string>();
const last = new WeakMap<Element, string>();
const wait = 120; // gathers what becomes stale together
const gap = 400; // between two rounds
let timer = 0;
let busy = false;
let before = 0;
let after: () => void = () => {};

export function whenRefreshed(does: () => void): void { after = does; }

export function invalidate(...keys: string[]): void {
  for (const key of keys) {
    stale.add(key);
    if (key.startsWith("run:")) stale.add("runs");
  }
  if (timer === 0 && !busy) timer = window.setTimeout(round, Math.max(wait, before + gap - performance.now()));
}

async function round(): Promise<void> {
  timer = 0;
  busy = true;
  before = performance.now();
  const keys = new Set(stale);
  stale.clear();
  const groups = new Map<string, Element[]>();
  document.querySelectorAll<HTMLElement>("[data-refresh][id]").forEach((el) => {
    if (!el.dataset.refresh?.split(" ").some((key) => keys.has(key))) return;
    const url = el.dataset.src ?? location.pathname + location.search;
    groups.set(url, [...(groups.get(url) ?? []), el]);
  });
  await Promise.all([...groups].map(([url, list]) => fetchInto(url, list)));
  busy = false;
  after();
  if (stale.size > 0) invalidate();
}

// fetchInto replaces every element of the list from one response. An answer
// without the element's id is the element's new content.
export async function fetchInto(url: string, list: Element[]): Promise<boolean> {
  let text: string;
  try {
    const response = await fetch(url, { headers: { Accept: "text/html", "Sluice-Fragment": "1" }, cache: "no-store" });
    if (!response.ok || response.redirected) return false;
    text = await response.text();
  } catch {
    return false; // offline: the banner says so, the next message asks again
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const el of list) {
    if (!el.isConnected) continue;
    const fresh = page.getElementById(el.id);
    const html = fresh ? fresh.outerHTML : page.body.innerHTML;
    if (last.get(el) === html) continue;
    replace(el, fresh, html);
  }
  return true;
}

function replace(el: Element, fresh: Element | null, html: string): void {
  const keep = remember(el);
  if (fresh) {
    const src = (el as HTMLElement).dataset.src;
    for (const { name, value } of [...fresh.attributes]) el.setAttribute(name, value);
    if (src !== undefined) (el as HTMLElement).dataset.src = src;
    el.toggleAttribute("hidden", fresh.hasAttribute("hidden"));
    el.replaceChildren(...fresh.childNodes);
  } else {
    el.innerHTML = html;
  }
  last.set(el, html);
  keep();
  localise(el);
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
const isField = (el: Element | null): el is Field =>
  el instanceof HTMLTextAreaElement || el instanceof HTMLSelectElement || (el instanceof HTMLInputElement && el.type !== "hidden");

function remember(root: Element): () => void {
  const open = [...root.querySelectorAll("details[id][open]")].map((el) => el.id);
  const typed = [...root.querySelectorAll("input[id], textarea[id], select[id]")].filter(isField)
    .map((el) => ({ id: el.id, value: el.value, checked: el instanceof HTMLInputElement && el.checked }));
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const where = focused && focused !== root ? address(focused) : "";
  const marks = isField(focused) && !(focused instanceof HTMLSelectElement) && focused.selectionStart !== null ? [focused.selectionStart, focused.selectionEnd] as const : null;
  const scroll = root.scrollTop;
  return () => {
    for (const id of open) root.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    for (const old of typed) {
      const el = root.querySelector(`#${CSS.escape(old.id)}`);
      if (!isField(el)) continue;
      el.value = old.value;
      if (el instanceof HTMLInputElement) el.checked = old.checked;
    }
    root.scrollTop = scroll;
    const target = where === "" ? null : root.querySelector<HTMLElement>(where);
    target?.focus({ preventScroll: true });
    if (marks && isField(target) && !(target instanceof HTMLSelectElement)) target.setSelectionRange(marks[0], marks[1]);
  };
}

function address(el: Element): string {
  if (el.id !== "") return `#${CSS.escape(el.id)}`;
  for (const name of ["href", "name", "aria-label"]) {
    const value = el.getAttribute(name);
    if (value) return `${el.localName}[${name}="${CSS.escape(value)}"]`;
  }
  return el.parentElement?.id ? `#${CSS.escape(el.parentElement.id)} > ${el.localName}` : "";
}
