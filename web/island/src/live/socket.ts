// The one socket of a tab: hello with what is known, resume after a gap,
// reconnect with growing, jittered pauses.
import type { Message } from "../wire";

export interface Link {
  subs(): { run: string; after: number }[];
  message(m: Message): void;
  state(link: "connecting" | "live" | "offline", retryInMillis: number): void;
}

const firstPause = 500;
const longestPause = 30_000;
const bannerAfter = 2_000;
const helloGap = 1_000;

export class Socket {
  private ws: WebSocket | undefined;
  private pause = firstPause;
  private offline = 0;
  private retry = 0;
  private greeting = 0;
  private greeted = -helloGap;

  constructor(private readonly link: Link) {
    window.addEventListener("online", () => this.again());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.again(); });
    this.open();
  }

  // hello tells the server what this page knows; sent again after a hole, at
  // most once a second.
  hello(): void {
    const wait = this.greeted + helloGap - performance.now();
    clearTimeout(this.greeting);
    if (wait > 0) { this.greeting = window.setTimeout(() => this.hello(), wait); return; }
    this.greeted = performance.now();
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify({ t: "hello", subs: this.link.subs() }));
  }

  private again(): void {
    if (this.ws?.readyState === WebSocket.OPEN || this.ws?.readyState === WebSocket.CONNECTING) return;
    clearTimeout(this.retry);
    this.open();
  }

  private open(): void {
    const ws = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.ws = ws;
    ws.onopen = () => {
      this.pause = firstPause;
      clearTimeout(this.offline);
      this.offline = 0;
      this.greeted = -helloGap;
      this.link.state("live", 0);
      this.hello();
    };
    ws.onmessage = (event: MessageEvent<string>) => this.link.message(JSON.parse(event.data) as Message);
    ws.onclose = () => { if (this.ws === ws) this.lost(); };
  }

  private lost(): void {
    const wait = Math.round(this.pause * (0.5 + Math.random()));
    this.pause = Math.min(this.pause * 2, longestPause);
    if (this.offline === 0) this.offline = window.setTimeout(() => this.link.state("offline", wait), bannerAfter);
    else if (document.body.hasAttribute("data-offline")) this.link.state("offline", wait);
    this.retry = window.setTimeout(() => this.open(), wait);
  }
}
