// The builder's page: reads what the server put in, draws, and listens.
import { createRoot } from "react-dom/client";
import "./builder/builder.css";
import { Actions } from "./builder/actions";
import { App } from "./builder/app";
import { Saver } from "./builder/draft";
import { startKeys } from "./builder/keys";
import { Store } from "./builder/store";
import type { Boot } from "./builder/wire";

const phone = matchMedia("(max-width: 639px)");

async function start(box: HTMLElement): Promise<void> {
  const boot = JSON.parse(document.getElementById("builder-boot")?.textContent ?? "{}") as Boot;
  const store = new Store(boot);
  const voice = document.getElementById("announce");
  const say = (text: string): void => { if (voice) voice.textContent = text; };
  const saver = new Saver(store, say);
  const actions = new Actions(store, saver, say);
  if (phone.matches) store.view = "outline";
  await saver.open();
  createRoot(box).render(<App store={store} saver={saver} actions={actions} />);
  startKeys(actions, box);
  await store.check();
  requestAnimationFrame(() => { box.dataset.ready = "true"; });
}

const box = document.getElementById("builder");
if (box) void start(box);
