// The script of every signed-in page. It owns the socket and the page's parts;
// the graph is drawn by a second bundle that reads the store made here.
import { localise, now, startClocks } from "./live/clock";
import { startForms } from "./live/forms";
import { startKeys } from "./live/keys";
import { lockActions, showLink, startNotify, titleCount } from "./live/notice";
import { invalidate, whenRefreshed } from "./live/refresh";
import { listOnPhones, RunPage, seqOfParts } from "./live/runpage";
import { Socket } from "./live/socket";

document.documentElement.dataset.script = "";

const ready = (): void => { document.body.dataset.ready = "true"; };

function startRun(): RunPage | undefined {
  if (!document.body.dataset.run) return undefined;
  const page = new RunPage();
  window.sluice = { store: page.store, openNode: (id) => void page.openNode(id, false), now, ready };
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLElement>("[data-close-panel], [data-show-node], tr[data-node] a.row-link, .panel-nav a");
    const mouse = event as MouseEvent;
    if (!link || mouse.ctrlKey || mouse.metaKey || mouse.shiftKey) return;
    event.preventDefault();
    if (link.closest(".panel-nav")) return showPart(link as HTMLAnchorElement);
    const id = "closePanel" in link.dataset ? undefined : link.dataset.showNode ?? link.closest<HTMLElement>("[data-node]")?.dataset.node;
    void page.openNode(id, id !== undefined && event.detail === 0); // detail 0: by keyboard
    document.dispatchEvent(new CustomEvent("sluice:selected", { detail: id }));
  });
  document.addEventListener("input", (event) => {
    const box = event.target as HTMLInputElement;
    if (box.id !== "find" || page.store) return;
    const words = box.value.trim().toLowerCase();
    document.querySelectorAll<HTMLElement>("tr[data-node]").forEach((row) => { row.hidden = !row.textContent?.toLowerCase().includes(words); });
  });
  document.addEventListener("submit", (event) => { if ((event.target as Element).matches("[data-find]")) event.preventDefault(); });
  return page;
}

function showPart(link: HTMLAnchorElement): void {
  document.querySelectorAll(".panel-nav a").forEach((a) => a.removeAttribute("aria-current"));
  link.setAttribute("aria-current", "true");
  document.querySelector(link.hash)?.scrollIntoView({ block: "start" });
}

function start(): void {
  localise(document);
  startForms();
  if (!("signedIn" in document.body.dataset) || listOnPhones()) return ready();
  startKeys();
  startClocks(() => invalidate("approvals"));
  titleCount();
  startNotify();
  const page = startRun();
  whenRefreshed(() => { titleCount(); lockActions(); if (page && !page.store) seqOfParts(); });
  let dropped = false;
  const socket: Socket = new Socket({
    subs: () => (page ? [{ run: page.id, after: page.after }] : []),
    message: (m) => {
      if (m.t === "inv") invalidate(...m.k);
      else if ((m.t === "ev" || m.t === "snap") && page && !page.take(m)) socket.hello();
    },
    state: (link, wait) => {
      showLink(link, wait);
      if (link === "live" && dropped) invalidate("approvals", "runs", `run:${page?.id ?? ""}`);
      dropped ||= link === "offline";
    },
  });
  page?.showAsked();
  if (!page?.store) ready();
}

start();
