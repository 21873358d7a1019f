// Timers and times of day. The server renders text in UTC; here it ticks and
// moves into the reader's zone.
import { span } from "../shared";

const skew = Number(document.body.dataset.now ?? 0) - Date.now() * 1000;

export const now = (): number => Date.now() * 1000 + skew;

const day = 86400e6;
const soon = 15 * 60e6;

function ago(at: number): string {
  const s = Math.floor((now() - at) / 1e6);
  if (s < 10) return "now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return "";
}

function put(el: HTMLElement, text: string): void {
  if (text !== "" && el.textContent !== text) el.textContent = text;
}

const each = (selector: string, does: (el: HTMLElement) => void): void =>
  document.querySelectorAll<HTMLElement>(selector).forEach(does);

// localise rewrites the times of day below `root`, once each.
export function localise(root: ParentNode): void {
  const zone = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", options);
  const clock = zone({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const fine = zone({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
  const full = zone({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  root.querySelectorAll<HTMLTimeElement>("time[data-clock], time[data-clock-ms], time[data-date]").forEach((el) => {
    const at = new Date(el.dateTime);
    if (Number.isNaN(at.getTime())) return;
    put(el, ("clockMs" in el.dataset ? fine : "date" in el.dataset ? full : clock).format(at));
  });
}

// startClocks ticks once a second; `expired` runs when a countdown reaches zero.
export function startClocks(expired: () => void): void {
  const done = new Set<string>();
  const tick = (): void => {
    each("[data-since]", (el) => put(el, span(now() - Number(el.dataset.since))));
    each("[data-ago]", (el) => put(el, ago(Number(el.dataset.ago))));
    each("[data-left]", (el) => {
      const at = Number(el.dataset.left);
      const rest = at - now();
      if (rest < day) put(el, span(rest));
      el.closest(".left")?.toggleAttribute("data-soon", rest < soon);
      if (rest > 0 || done.has(String(at))) return;
      done.add(String(at));
      expired();
    });
  };
  tick();
  setInterval(tick, 1000);
}
