// The other two views of the same plan, and what the check found.
import { useEffect, useId, useRef, useState } from "react";
import type { Actions } from "./actions";
import { asksWords, verdictOf } from "./asked";
import { toneOf } from "./card";
import { sources } from "./core";
import { Icon, Problem, toolIcon } from "./parts";
import type { Store } from "./store";
import { jsonKey } from "./unread";

interface Props { store: Store; actions: Actions }

// Outline is the plan as a list that offers every action: for the keyboard, for
// phones, and for who does not see the canvas.
export function Outline({ store, actions }: Props) {
  const { steps } = store.doc.plan;
  if (steps.length === 0) return <div className="outline"><div className="empty"><Icon name="build" /><h2>Nothing is drawn yet</h2><p>Add a step: the tools are above, or at the left.</p><Beginnings store={store} actions={actions} /></div></div>;
  return (
    <ol className="outline" aria-label="Steps">
      {steps.map((s, i) => {
        const marks = store.marks.get(s.id);
        const from = [...sources(s)];
        const on = store.selected.has(s.id);
        const decision = verdictOf(store.answers.get(s.id));
        return (
          <li key={s.id} className="outline-row" data-on={on || undefined}>
            <button type="button" className="outline-main" data-node={s.id} data-state={toneOf(marks?.errors ?? 0, marks?.warnings ?? 0)} aria-pressed={on}
              onClick={() => store.select(s.id)}>
              <span className="glyph"><Icon name={toolIcon(s.tool)} /></span>
              <span className="grow">
                <b>{s.id}</b> <code>{s.tool}</code>
                {from.length > 0 && <span className="meta"> after {from.map(([id, how]) => (how.data ? `${id} (data)` : id)).join(s.join === "any_of" ? " or " : ", ")}{s.join === "any_of" ? ", any of" : s.join === "all_done" ? ", all done" : ""}</span>}
              </span>
              {asksWords[decision] !== "" && <span className="tag" title={asksWords[decision]}>{decision === "clear" ? "clearance" : "asks"}</span>}
              {decision === "deny" && <span className="tag">denied</span>}
              {marks && marks.errors > 0 && <span className="card-mark" data-kind="error"><Icon name="cross" size={12} />{marks.errors}<span className="vh"> errors</span></span>}
              {marks && marks.errors === 0 && <span className="card-mark" data-kind="warning"><Icon name="warn" size={12} />{marks.warnings}<span className="vh"> warnings</span></span>}
            </button>
            {on && (
              <div className="outline-actions" role="group" aria-label={`Actions on ${s.id}`}>
                <button type="button" className="button" data-size="28" onClick={() => document.querySelector<HTMLElement>("#builder .step-form [data-field]")?.focus()}>Edit</button>
                <button type="button" className="button" data-size="28" onClick={() => { store.select(s.id); store.set({ dialog: "connect" }); }}>Connect…</button>
                <button type="button" className="button" data-size="28" onClick={() => actions.copy()}>Copy</button>
                <button type="button" className="button" data-size="28" onClick={() => actions.duplicate()}>Duplicate</button>
                <button type="button" className="button" data-size="28" disabled={i === 0} onClick={() => actions.shift(s.id, -1)}>Up</button>
                <button type="button" className="button" data-size="28" disabled={i === steps.length - 1} onClick={() => actions.shift(s.id, 1)}>Down</button>
                <button type="button" className="button" data-size="28" data-kind="danger" onClick={() => { store.select(s.id); actions.remove(); }}>Delete</button>
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}

// JSONView is the plan as text, in step both ways. Text that is not a plan yet
// leaves the drawing as it was.
export function JSONView({ store }: Props) {
  const { plan } = store.doc;
  const held = store.unread.get(jsonKey);
  const [text, setText] = useState(() => held?.text ?? JSON.stringify(plan, null, 2));
  const fault = held?.fault ?? "";
  const mine = useRef(plan);
  const id = useId();
  useEffect(() => {
    if (plan === mine.current) return;
    mine.current = plan;
    setText(JSON.stringify(plan, null, 2));
    store.hold(jsonKey, undefined);
  }, [plan, store]);
  const type = (next: string): void => {
    setText(next);
    const found = store.takeText(next, "json");
    store.hold(jsonKey, found === "" ? undefined : { text: next, fault: found });
    mine.current = store.doc.plan;
  };
  return (
    <div className="json-view">
      <label className="vh" htmlFor={id}>Plan as JSON</label>
      <textarea className="mono" id={id} data-json spellCheck={false} value={text} onChange={(e) => type(e.target.value)} aria-invalid={fault !== "" || undefined} aria-describedby={`${id}-fault`} />
      <div className="json-foot" id={`${id}-fault`} role="status">{fault !== "" ? <Problem>{fault} The drawing shows the last plan that could be read. <button type="button" className="link" onClick={() => { store.hold(jsonKey, undefined); setText(JSON.stringify(plan, null, 2)); }}>Back to that plan</button></Problem> : <span className="meta">In step with the drawing.</span>}</div>
    </div>
  );
}

// Beginnings are the ways to a plan beside drawing it.
export function Beginnings({ store, actions }: Props) {
  return (
    <div className="row beginnings">
      <button type="button" className="button" onClick={() => actions.toPalette()}>Add a step<kbd aria-hidden="true">A</kbd></button>
      <button type="button" className="button" onClick={() => store.set({ dialog: "import" })}>Import a plan…</button>
      <a className="button" href="/templates">Start from a template</a>
    </div>
  );
}

const shownMax = 200;

export function Findings({ store, actions }: Props) {
  const warnings = store.findings.length - store.errors;
  const fresh = store.checked === store.revision;
  const isEmpty = store.doc.plan.steps.length === 0;
  const state = store.unread.has(jsonKey) ? "the JSON can not be read yet" : !fresh ? "checking" : isEmpty ? "nothing to check yet" : store.errors === 0 && store.ok ? "the plan compiles" : "checked";
  return (
    <section className="checks" aria-labelledby="findings-title" data-checked={store.checked}>
      <header>
        <h2 id="findings-title" tabIndex={-1}>Findings</h2>
        {store.errors > 0 && <span className="checks-count" data-kind="error">{store.errors}<span className="vh"> errors</span></span>}
        {warnings > 0 && <span className="checks-count" data-kind="warning">{warnings}<span className="vh"> warnings</span></span>}
        <span className="checks-end">{state} <kbd aria-hidden="true">F8</kbd></span>
      </header>
      {store.problem && store.findings.length === 0 && <Problem>{store.problem.detail} {store.problem.fix}</Problem>}
      {store.findings.length > 0 && (
        <ul>
          {store.findings.slice(0, shownMax).map((f, i) => {
            const fix = store.fixFor(f);
            return (
              <li key={`${f.rule}${f.pointer}${i}`} data-severity={f.severity} data-on={i === store.at || undefined}>
                <button type="button" className="finding" data-finding={i} aria-current={i === store.at || undefined} onClick={() => actions.finding(i)}>
                  <Icon name={f.severity === "error" ? "cross" : "warn"} size={14} />
                  <span className="vh">{f.severity}</span><code>{f.rule}</code><b>{f.step === "" ? "plan" : f.step}</b><span className="grow">{f.message} <span className="t3">{f.fix}</span></span>
                </button>
                {fix && <button type="button" className="link" aria-label={`Fix: ${fix.label}`} onClick={() => actions.fix(i)}>Fix</button>}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
