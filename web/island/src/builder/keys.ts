// The keyboard of the builder. Keys rest in text fields, but for saving, running
// and going to the next finding; single letters can be switched off.
import type { Actions } from "./actions";

const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const stepPx = 4;

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])"));

const lettersOn = (): boolean => localStorage.getItem("sluice.keys") !== "off";

export function startKeys(actions: Actions, box: HTMLElement): void {
  const { store } = actions;

  const everywhere = (event: KeyboardEvent, ctrl: boolean): boolean => {
    if (event.key === "F8") { actions.nextFinding(event.shiftKey ? -1 : 1); return true; }
    if (ctrl && event.key.toLowerCase() === "s") { void actions.save(); return true; }
    if (ctrl && event.key === "Enter") { store.set({ dialog: "run" }); return true; }
    return false;
  };

  const withCtrl = (event: KeyboardEvent): boolean => {
    switch (event.key.toLowerCase()) {
      case "z": if (event.shiftKey) actions.redo(); else actions.undo(); return true;
      case "y": actions.redo(); return true;
      case "a": actions.selectAll(); return true;
      case "c": return actions.copy();
      case "x": actions.cut(); return true;
      case "v": actions.paste(); return true;
      case "d": actions.duplicate(); return true;
    }
    return false;
  };

  const plain = (event: KeyboardEvent): boolean => {
    const target = event.target as HTMLElement;
    const onStep = target.closest("[data-node]") !== null;
    const by = arrows[event.key];
    if (by && store.view === "canvas" && (onStep || target === document.body) && store.selected.size > 0) {
      const far = event.shiftKey ? 10 * stepPx : stepPx;
      actions.move(by[0] * far, by[1] * far);
      return true;
    }
    switch (event.key) {
      case "Delete": case "Backspace": actions.remove(); return true;
      case "Escape": if (store.selected.size === 0 && store.edge === undefined) return false; store.select(); return true;
      case "Enter": {
        const id = target.closest<HTMLElement>("[data-node]")?.dataset.node;
        if (id === undefined || target.closest("button, a")) return false;
        store.select(id);
        requestAnimationFrame(() => document.querySelector<HTMLElement>("#builder .step-form [data-field]")?.focus());
        return true;
      }
    }
    return false;
  };

  const letter = (event: KeyboardEvent): boolean => {
    switch (event.key.toLowerCase()) {
      case "a": actions.toPalette(); return true;
      case "c": if (store.only === undefined) return false; store.set({ dialog: "connect" }); return true;
      case "j": actions.walk(1); return true;
      case "k": actions.walk(-1); return true;
      case "+": case "=": actions.camera?.zoom("in"); return true;
      case "-": actions.camera?.zoom("out"); return true;
      case "0": actions.camera?.fit(); return true;
    }
    return false;
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const ctrl = event.ctrlKey || event.metaKey;
    const inside = event.target === document.body || box.contains(event.target as Node) || (event.target as Element).id === "main";
    let used = everywhere(event, ctrl);
    if (!used && inside && !typing(event.target)) {
      if (event.shiftKey && event.altKey && event.code === "KeyT") { actions.tidy(); used = true; }
      else if (ctrl) used = withCtrl(event);
      else if (!event.altKey) used = plain(event) || (lettersOn() && letter(event));
    } else if (!used && inside && event.key === "Escape" && (event.target as Element).closest(".step-form")) {
      const id = store.only;
      if (id !== undefined) { actions.focus(id); used = true; }
    }
    if (used) { event.preventDefault(); event.stopImmediatePropagation(); }
  }, true);
}
