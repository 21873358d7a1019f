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
  const word = document.querySelector<HTMLElement>("[data-live-word]");
  if (word && off) { word.dataset.before ??= word.textContent ?? ""; word.textContent = "Offline"; }
  else if (word?.dataset.before !== undefined && link === "live") { word.textContent = word.dataset.before; delete word.dataset.before; }
  if (link === "live" && signedOut) { signedOut = false; setTitle("Connection lost"); }
  if (off) void askWhether(text);
  if (text && off && !signedOut) text.textContent = `Trying again in ${Math.max(1, Math.round(retryInMillis / 1000))} s. Actions are off until then.`;
  lockActions();
}

let signedOut = false;

function setTitle(words: string): void {
  const title = document.getElementById("offline-title");
  if (title) title.textContent = words;
}

// askWhether tells a lost connection from a session that has ended: then trying
// again is of no use, signing in is.
async function askWhether(text: HTMLElement | null): Promise<void> {
  try {
    const response = await fetch("/runs", { redirect: "manual", cache: "no-store" });
    if (text && (response.type === "opaqueredirect" || response.status === 401)) {
      signedOut = true;
      setTitle("You are signed out");
      text.textContent = "This page no longer changes. Sign in with a new link in another tab, then load it again; nothing is lost.";
    }
  } catch {
    // not reached at all: the banner says so already
  }
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
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
const calmIcon = icon?.href ?? "";
const dottedIcon = "data:image/svg+xml," + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18" fill="none" stroke="#5f5de3" stroke-width="1.8" ' +
  'stroke-linecap="round"><path d="M2.5 1.5v15M15.5 1.5v15M5 13.6c1.4-1.5 2.6-1.5 4 0s2.6 1.5 4 0"/><path d="M5.5 2h7v6.5h-7z" fill="#5f5de3"/><circle cx="13.5" cy="4.5" r="4" fill="#fac125" stroke="none"/></svg>');
let known = -1; // how many waited when last seen

// titleCount shows in the tab that something waits, by number and by a dot.
export function titleCount(): void {
  const count = document.querySelector<HTMLElement>("[data-waiting]")?.dataset.waiting ?? "";
  document.title = count === "" ? title : `(${count}) ${title}`;
  if (icon) icon.href = count === "" ? calmIcon : dottedIcon;
  const now = Number(count);
  if (known >= 0 && now > known) tell(now);
  known = now;
}

const notifyStore = "sluice.notify";

// tell shows a notification of the browser to who asked for them, and only while
// the page is not looked at.
function tell(count: number): void {
  if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted" || localStorage.getItem(notifyStore) !== "on") return;
  try {
    const note = new Notification(count === 1 ? "Something waits for you" : `${count} things wait for you`, { body: "Open approvals to look at it.", tag: "sluice" });
    note.onclick = () => { window.focus(); location.assign("/approvals"); };
  } catch {
    // some phones take notifications from installed apps alone; the title says it too
  }
}

// startNotify offers notifications where the browser has them.
export function startNotify(): void {
  const box = document.querySelector<HTMLInputElement>("#notify");
  if (!box || !("Notification" in window)) return;
  box.closest<HTMLElement>("[data-notify]")?.removeAttribute("hidden");
  box.checked = localStorage.getItem(notifyStore) === "on" && Notification.permission === "granted";
  box.addEventListener("change", async () => {
    if (box.checked && Notification.permission !== "granted" && await Notification.requestPermission() !== "granted") {
      box.checked = false;
      toast("Not allowed", "The browser refuses notifications from this page. Its settings for this site can allow them.");
    }
    localStorage.setItem(notifyStore, box.checked ? "on" : "off");
  });
}
