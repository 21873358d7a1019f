// The builder as a whole: bar, palette, views, form, findings.
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { ReactFlowProvider } from "@xyflow/react";
import type { Actions } from "./actions";
import { Canvas } from "./canvas";
import { stepOf } from "./core";
import { Dialogs } from "./dialogs";
import type { Saver } from "./draft";
import { PlanForm, StepForm } from "./form";
import { Icon, Picker, toolIcon } from "./parts";
import { groupOf } from "./schema";
import { untitled, type Store, type View } from "./store";
import { Findings, JSONView, Outline } from "./views";
import { send, type DraftHead, type Problem } from "./wire";

interface Props { store: Store; saver: Saver; actions: Actions }

export function App({ store, saver, actions }: Props) {
  const version = useSyncExternalStore(store.subscribe, store.now);
  const step = store.only === undefined ? undefined : stepOf(store.doc, store.only);
  return (
    <div className="builder-app" data-rev={store.revision} data-view={store.view} data-saved={saver.state}>
      <Bar store={store} saver={saver} actions={actions} />
      <Trouble store={store} saver={saver} actions={actions} />
      <div className="builder-body">
        <Palette store={store} actions={actions} />
        <div className="builder-mid">
          <Tabs store={store} saver={saver} actions={actions} />
          {store.view === "canvas" && <p className="phone-note">On a small screen the canvas is for looking. The outline adds, connects, edits, moves and deletes.</p>}
          <div className="builder-view">
            {store.view === "canvas" && <ReactFlowProvider><Canvas store={store} actions={actions} version={version} /></ReactFlowProvider>}
            {store.view === "outline" && <Outline store={store} actions={actions} />}
            {store.view === "json" && <JSONView store={store} actions={actions} />}
          </div>
          <Findings store={store} actions={actions} />
        </div>
        <div className="builder-side">{step ? <StepForm store={store} actions={actions} step={step} /> : <PlanForm store={store} actions={actions} />}</div>
      </div>
      <Dialogs store={store} actions={actions} />
    </div>
  );
}

const savedWords: Record<Saver["state"], string> = { new: "not saved yet", dirty: "not saved yet", saving: "saving", saved: "saved", conflict: "saved elsewhere", gone: "deleted elsewhere", failed: "not saved" };

function savedText(saver: Saver, now: number): string {
  if (saver.state !== "saved") return savedWords[saver.state];
  const s = Math.max(0, Math.round((now - saver.savedAt) / 1000));
  return s < 5 ? "saved" : s < 60 ? `saved ${s} s ago` : `saved ${Math.floor(s / 60)} min ago`;
}

function Bar({ store, saver, actions }: Props) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => { const timer = setInterval(() => setNow(Date.now()), 5000); return () => clearInterval(timer); }, []);
  const review = saver.reviewed !== undefined;
  const [refusal, setRefusal] = useState<Problem>();
  const saveToRun = (): void => { void actions.saveToRun().then(setRefusal); };
  return (
    <header className="builder-bar">
      <nav className="crumbs" aria-label="Breadcrumb"><Drafts store={store} saver={saver} /><Icon name="right" size={12} /></nav>
      <input className="builder-name" aria-label="Name of the draft" maxLength={120} placeholder={store.name === "" ? store.title : untitled} value={store.name} onChange={(e) => store.setName(e.target.value)} />
      <span className="tag" data-kind="new">{review ? "Plan of a run" : "Draft"}</span>
      <span className="builder-saved" role="status" title={saver.failure?.detail}>{savedText(saver, now)}</span>
      {refusal && <span className="error-text" role="alert">{refusal.detail} {refusal.fix}</span>}
      <div className="builder-tools">
        <button type="button" className="button" data-kind="quiet" data-square aria-label="Undo" title={store.history.undoes && `Undo: ${store.history.undoes}`} disabled={store.history.undoes === undefined} onClick={() => actions.undo()}><Icon name="undo" /></button>
        <button type="button" className="button" data-kind="quiet" data-square aria-label="Redo" title={store.history.redoes && `Redo: ${store.history.redoes}`} disabled={store.history.redoes === undefined} onClick={() => actions.redo()}><Icon name="redo" /></button>
        <button type="button" className="button" data-kind="quiet" data-size="28" disabled={!actions.canTidy} onClick={() => actions.tidy()}><Icon name="tidy" />Tidy</button>
        <More store={store} saver={saver} actions={actions} />
        <button type="button" className="button" onClick={() => void actions.validate()}>Validate</button>
        {review && <button type="button" className="button" data-kind="primary" disabled={store.errors > 0} onClick={saveToRun}>Save to run</button>}
        <button type="button" className="button" data-kind={review ? undefined : "primary"} aria-label="Run…" onClick={() => store.set({ dialog: "run" })}>Run…{!review && <span className="key-hint" data-keys="Ctrl ↵" />}</button>
      </div>
    </header>
  );
}

function close(event: React.MouseEvent): void { (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open"); }

function More({ store, saver, actions }: Props) {
  const item = (word: string, act: () => void, keys?: string) => (
    <button type="button" className="menu-row" onClick={(e) => { close(e); act(); }}>{word}{keys && <kbd>{keys}</kbd>}</button>
  );
  return (
    <details className="menu builder-menu" data-menu>
      <summary className="button" data-kind="quiet" data-square aria-label="More actions"><Icon name="more" /></summary>
      <div className="menu-panel">
        {item("Save now", () => void actions.save(), "Ctrl S")}
        {item("Save as a copy", () => void saver.keepMine())}
        {item("Save as a template…", () => void actions.toTemplate())}
        <hr />
        {item("Import…", () => store.set({ dialog: "import" }))}
        {item("Export JSON", () => actions.exportFile())}
        <hr />
        {item("Select all", () => actions.selectAll(), "Ctrl A")}
        {item("Copy", () => actions.copy(), "Ctrl C")}
        {item("Paste", () => actions.paste(), "Ctrl V")}
        {item("Duplicate", () => actions.duplicate(), "Ctrl D")}
        {item("Show the whole plan", () => actions.camera?.fit(), "0")}
        <button type="button" className="menu-row" data-open="keys" onClick={close}>Keyboard shortcuts<kbd>?</kbd></button>
        {saver.head && <hr />}
        {saver.head && item("Delete draft…", () => store.set({ dialog: "discard" }))}
      </div>
    </details>
  );
}

interface Listed extends DraftHead { updated_at: string }

// Drafts is the list of what the person has begun, read when it is opened.
function Drafts({ saver }: { store: Store; saver: Saver }) {
  const [list, setList] = useState<Listed[]>();
  const load = (event: React.SyntheticEvent<HTMLDetailsElement>): void => {
    if (event.currentTarget.open) void send<{ drafts: Listed[] }>("GET", "/drafts?kind=plan").then((r) => setList(r.drafts)).catch(() => setList([]));
  };
  return (
    <details className="menu builder-menu" data-menu onToggle={load}>
      <summary className="builder-drafts">Drafts</summary>
      <div className="menu-panel draft-list">
        <a className="menu-row" href="/builder"><Icon name="plus" size={14} />New plan</a>
        {list?.map((d) => <a key={d.id} className="menu-row" href={`/builder?draft=${d.id}`} aria-current={d.id === saver.head?.id ? "page" : undefined}><span className="cut grow">{d.name}</span><time className="meta" dateTime={d.updated_at}>{d.updated_at.slice(0, 10)}</time></a>)}
        {list?.length === 0 && <p className="menu-who">No drafts yet.</p>}
      </div>
    </details>
  );
}

// Trouble says what stands between the work and its being saved, with a way out.
function Trouble({ store, saver, actions }: Props) {
  if (saver.moved) {
    const { detail, who, when, run } = { ...saver.moved, run: saver.reviewed };
    return (
      <div className="callout builder-trouble" data-kind="wait" role="alert">
        <Icon name="warn" />
        <div className="grow"><strong>The run’s plan is another one by now</strong><p>{detail[0]?.toUpperCase()}{detail.slice(1)}{who ? `, by ${who}` : ""}{when ? `, ${new Date(when).toLocaleTimeString()}` : ""}. Nothing was overwritten.</p></div>
        <a className="button" data-size="28" href={`/runs/${run?.id ?? ""}`}>Show the run</a>
        <button type="button" className="button" data-size="28" onClick={() => void actions.loadRunPlan()}>Load that plan</button>
        <button type="button" className="button" data-size="28" onClick={() => void actions.replaceRunPlan()}>Replace it with mine</button>
      </div>
    );
  }
  if (saver.state === "conflict") {
    const { when, revision } = saver.conflict ?? {};
    const who = saver.conflict?.who?.startsWith("token:") ? `your token ${saver.conflict.who.slice(6)}` : "you, in another tab or browser";
    return (
      <div className="callout builder-trouble" data-kind="wait" role="alert">
        <Icon name="warn" />
        <div className="grow"><strong>This draft was saved elsewhere</strong><p>Revision {revision} by {who}{when ? `, ${new Date(when).toLocaleTimeString()}` : ""}. What you have here is kept in this browser; nothing was overwritten.</p></div>
        <button type="button" className="button" data-size="28" onClick={() => void saver.keepMine()}>Keep mine as a copy</button>
        <button type="button" className="button" data-size="28" onClick={() => void saver.loadTheirs()}>Load theirs</button>
      </div>
    );
  }
  if (saver.state === "gone") {
    return (
      <div className="callout builder-trouble" data-kind="wait" role="alert">
        <Icon name="warn" />
        <div className="grow"><strong>This draft was deleted elsewhere</strong><p>What you have here is kept in this browser. Keep it as a draft of its own, or leave the page.</p></div>
        <button type="button" className="button" data-size="28" onClick={() => void saver.keepMine()}>Keep mine as a copy</button>
      </div>
    );
  }
  if (saver.notice !== "") {
    return (
      <div className="callout builder-trouble" data-kind="wait" role="status">
        <Icon name="warn" /><div className="grow"><p>{saver.notice}</p></div>
        <button type="button" className="button" data-size="28" onClick={() => { saver.notice = ""; store.changed(); }}>Close</button>
      </div>
    );
  }
  if (!saver.failure) return null;
  return (
    <div className="callout builder-trouble" data-kind="fail" role="alert">
      <Icon name="cross" /><div className="grow"><strong>{saver.state === "failed" ? "Not saved" : "Not opened"}</strong><p>{saver.failure.detail} {saver.failure.fix}</p></div>
      {saver.state === "failed" && <button type="button" className="button" data-size="28" onClick={() => void saver.save()}>Try again</button>}
      {saver.state !== "failed" && <button type="button" className="button" data-size="28" onClick={() => { saver.failure = undefined; store.changed(); }}>Close</button>}
    </div>
  );
}

function Palette({ store, actions }: { store: Store; actions: Actions }) {
  const options = useMemo(() => {
    const order = ["Read", "Shape", "Act"];
    return store.boot.tools.map((t) => ({ value: t.name, label: t.name, hint: t.summary, icon: toolIcon(t.name), group: groupOf(t) as string }))
      .sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group) || a.value.localeCompare(b.value));
  }, [store]);
  return (
    <section className="palette" aria-label="Tools">
      <Picker id="palette-search" label="Add step" placeholder="Add step" hotkey="A" options={options} drag="text/x-sluice-tool" onPick={(tool) => actions.add(tool)}
        onEscape={() => { const id = store.only ?? store.doc.plan.steps[0]?.id; if (id) actions.focus(id); else (document.activeElement as HTMLElement | null)?.blur(); }} />
    </section>
  );
}

const tabs: [View, string, string][] = [["canvas", "Canvas", "graph"], ["outline", "Outline", "list"], ["json", "JSON", "log"]];

// Scopes says which tools the plan may use; a policy with one scope has no choice.
function Scopes({ store, locked }: { store: Store; locked: boolean }) {
  const all = store.boot.all_scopes.map((s) => s.name);
  if (all.length < 2 && store.scopes.every((s) => all.includes(s))) return null;
  const shown = [...all, ...store.scopes.filter((s) => !all.includes(s))];
  const toggle = (name: string, on: boolean): void => {
    const next = shown.filter((s) => (s === name ? on : store.scopes.includes(s)));
    if (next.length > 0) store.limit({ scopes: next });
  };
  return (
    <details className="menu builder-menu" data-menu>
      <summary className="button" data-size="28">{store.scopes.length === 1 ? "Scope" : "Scopes"}: <b className="cut">{store.scopes.join(", ")}</b></summary>
      <div className="menu-panel" role="group" aria-label="Scopes: the tools it may use">
        {shown.map((s) => <label key={s} className="menu-row switch"><input type="checkbox" checked={store.scopes.includes(s)} disabled={locked || (store.scopes.length === 1 && store.scopes[0] === s)} onChange={(e) => toggle(s, e.target.checked)} /> {s}</label>)}
      </div>
    </details>
  );
}

function Tabs({ store, saver, actions }: Props) {
  const n = store.doc.plan.steps.length;
  const max = typeof store.doc.plan.max_steps === "number" ? ` of ${store.doc.plan.max_steps}` : "";
  const isRunsOwn = saver.reviewed !== undefined;
  return (
    <div className="tabbar">
      <div className="tabs" role="group" aria-label="Views of this plan">
        {tabs.map(([view, word, icon]) => <button key={view} type="button" className="tab" aria-current={store.view === view ? "true" : undefined} onClick={() => actions.view(view)}><Icon name={icon} size={14} />{word}</button>)}
      </div>
      <div className="tabbar-end t2">
        <div className="field"><label htmlFor="builder-intent">Intent</label>
          <select className="input" id="builder-intent" value={store.intent} disabled={isRunsOwn} title={isRunsOwn ? "The run was started with it" : undefined} onChange={(e) => store.limit({ intent: e.target.value })}>{["observe", "operate", "override"].map((i) => <option key={i} value={i}>{i}</option>)}</select></div>
        <Scopes store={store} locked={isRunsOwn} />
        <span className="steps-count">{n}{max} {n === 1 && max === "" ? "step" : "steps"}</span>
      </div>
    </div>
  );
}
