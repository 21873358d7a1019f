// Words to the person: toasts, the offline banner, the live region, the title.

const pauseMillis = 3000; // at most one spoken message in this time
const toastMillis = 8000;
let spoken = 0;
let timer = 0;

export function toast(title: string, text: string): void {
  const box = document.getElementById("toasts");
  if (!box) return;
  const item = document.createElement("div");
  item.className = "toast";
  item.dataset.tone = "failed";
  const words = document.createElement("div");
  const head = document.createElement("strong");
  const body = document.createElement("p");
  head.textContent = title;
  body.textContent = text;
  words.append(head, body);
  item.append(words);
  box.append(item);
  setTimeout(() => item.remove(), toastMillis);
}

// announce speaks through the live region, the newest words only.
export function announce(words: string, urgent = false): void {
  const region = document.getElementById("announce");
  if (!region) return;
  clearTimeout(timer);
  const wait = urgent ? 0 : Math.max(0, spoken + pauseMillis - performance.now());
  timer = window.setTimeout(() => {
    spoken = performance.now();
    region.setAttribute("aria-live", urgent ? "assertive" : "polite");
    region.textContent = words;
  }, wait);
}

export function showLink(link: string, retryInMillis: number): void {
  const off = link === "offline";
  const banner = document.getElementById("offline");
  const text = document.getElementById("offline-text");
  document.getElementById("live")?.setAttribute("data-link", link);
  document.body.toggleAttribute("data-offline", off);
  if (banner) banner.hidden = !off;
  if (text && off) text.textContent = `Trying again in ${Math.max(1, Math.round(retryInMillis / 1000))} s. Actions are off until then.`;
  lockActions();
}

// lockActions switches every action off while offline, and on again after.
export function lockActions(): void {
  const off = document.body.hasAttribute("data-offline");
  const forms = 'form[method="post"]:not([action="/preferences"]) button';
  document.querySelectorAll<HTMLButtonElement>(forms).forEach((button) => {
    if (off && !button.disabled) { button.disabled = true; button.dataset.locked = ""; button.title = "Not while the connection is lost"; }
    if (!off && "locked" in button.dataset) { button.disabled = false; delete button.dataset.locked; button.removeAttribute("title"); }
  });
}

const title = document.title;

export function titleCount(): void {
  const count = document.querySelector<HTMLElement>("[data-waiting]")?.dataset.waiting ?? "";
  document.title = count === "" ? title : `(${count}) ${title}`;
}
