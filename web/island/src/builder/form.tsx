// The form of the selected step: what it takes, when it runs, what stops it.
import { useEffect, useId, useState } from "react";
import type { Actions } from "./actions";
import { gateWords, policyWords, verdictOf, type Verdict } from "./asked";
import { change, changePlan, connect, disconnect, type Join, type Step } from "./core";
import { placeOf } from "./fixes";
import { Icon, Problem, toolIcon } from "./parts";
import { outputOf, ParamField, sourcesFor } from "./param";
import { readJSON } from "./jsontext";
import { fieldsOf, paramsOf, topFields } from "./schema";
import type { Store } from "./store";
import { ParsedField } from "./values";

// problemsAt gives what the findings say about one part of a step.
function problemsAt(store: Store, step: Step, parts: string[], name?: string): string[] {
  return store.findings.flatMap((f) => {
    const at = placeOf(store.doc, f);
    if (at?.step.id !== step.id || f.severity !== "error" || f.rule === "TEXT") return [];
    const [part, which] = at.rest;
    if (part !== undefined && parts.includes(part) && (name === undefined || which === name)) return [`${f.message} ${f.fix}`];
    const isMissing = name !== undefined && which === undefined && (part === "params" || part === undefined) && (f.message.includes(`'${name}'`) || f.message.includes(`"${name}"`));
    return isMissing ? [`${f.message}`] : [];
  });
}

export function StepForm({ store, actions, step }: { store: Store; actions: Actions; step: Step }) {
  const tool = store.tools.get(step.tool);
  const params = paramsOf(tool);
  const known = new Set(params.map((p) => p.name));
  const extra = [...new Set([...Object.keys(step.params ?? {}), ...Object.keys(step.param_refs ?? {})])].filter((name) => !known.has(name));
  const toolProblems = problemsAt(store, step, ["tool"]);
  return (
    <section className="step-form" aria-label={`Step ${step.id}`}>
      <header className="form-head">
        <span className="glyph"><Icon name={toolIcon(step.tool)} /></span>
        <div className="grow">
          <h2 className="cut">{step.id}</h2>
          <code className="cut">{step.tool}</code>
        </div>
        {tool && <span className="tag">{tool.class}, {tool.effect}</span>}
      </header>
      <div className="form-body">
        {tool?.summary && <p className="t2">{tool.summary}</p>}
        {toolProblems.length > 0 && <Problem>{toolProblems.join(" ")}</Problem>}
        {params.map((p) => <ParamField key={`${step.id}.${p.name}`} {...{ store, actions, step }} param={p} problems={problemsAt(store, step, ["params", "param_refs"], p.name)} />)}
        {extra.map((name) => <ParamField key={`${step.id}.${name}`} {...{ store, actions, step }} param={{ name, schema: {}, required: false }} problems={problemsAt(store, step, ["params", "param_refs"], name)} />)}
        {params.length === 0 && extra.length === 0 && <p className="meta">This tool takes no parameters.</p>}
        <IDField key={step.id} actions={actions} step={step} />
        <After store={store} actions={actions} step={step} />
        <Timing store={store} step={step} />
        <GuardField key={`${step.id}-guard`} store={store} step={step} />
        <Approval store={store} actions={actions} step={step} />
        <Why store={store} step={step} />
      </div>
      <Derived store={store} step={step} />
      <footer className="form-foot">
        <button type="button" className="button" data-size="28" onClick={() => store.set({ dialog: "connect" })}><Icon name="right" size={14} />Connect…</button>
        <button type="button" className="button" data-size="28" onClick={() => actions.duplicate()}>Duplicate</button>
        <button type="button" className="button" data-size="28" data-kind="danger" onClick={() => actions.remove()}>Delete</button>
      </footer>
    </section>
  );
}

function IDField({ actions, step }: { actions: Actions; step: Step }) {
  const [text, setText] = useState(step.id);
  const [fault, setFault] = useState("");
  const id = useId();
  const commit = (): void => setFault(actions.rename(step.id, text.trim()));
  return (
    <div className="field">
      <label htmlFor={id}>Id</label>
      <input className="input mono" id={id} data-field="id" value={text} spellCheck={false} aria-invalid={fault !== "" || undefined} aria-describedby={fault !== "" ? `${id}-fault` : undefined}
        onChange={(e) => setText(e.target.value)} onBlur={commit} onKeyDown={(e) => { if (e.key === "Enter") { e.preventDefault(); commit(); } }} />
      {fault !== "" && <Problem id={`${id}-fault`}>{fault}</Problem>}
    </div>
  );
}

const joins: [Join, string][] = [["all_of", "all of"], ["any_of", "any of"], ["all_done", "all done"]];

function After({ store, actions, step }: { store: Store; actions: Actions; step: Step }) {
  const id = useId();
  const own = step.depends_on ?? [];
  const free = sourcesFor(store, step.id).filter((s) => !own.includes(s));
  const read = [...new Set([...Object.values(step.param_refs ?? {}).map((r) => r.step), ...(step.guard ? [step.guard.ref.step] : [])])];
  return (
    <div className="field">
      <label htmlFor={id}>Runs after</label>
      {(own.length > 0 || read.length > 0) && (
        <ul className="afters">
          {own.map((from) => (
            <li key={from} className="tag" data-kind="plain"><code>{from}</code>
              <button type="button" aria-label={`Do not wait for ${from}`} onClick={() => actions.disconnect(from, step.id)}><Icon name="cross" size={12} /></button>
            </li>
          ))}
          {read.filter((from) => !own.includes(from)).map((from) => <li key={from} className="tag"><code>{from}</code> data</li>)}
        </ul>
      )}
      <select className="input" id={id} data-field="depends_on" value="" onChange={(e) => store.apply(`Connect ${e.target.value} to ${step.id}`, connect(store.doc, e.target.value, step.id))}>
        <option value="">{free.length > 0 ? "Add a step to wait for…" : "No other step comes before"}</option>
        {free.map((s) => <option key={s} value={s}>{s}</option>)}
      </select>
    </div>
  );
}

function Timing({ store, step }: { store: Store; step: Step }) {
  const id = useId();
  const tool = store.tools.get(step.tool);
  const set = (label: string, patch: Partial<Step>): void => { store.apply(label, change(store.doc, step.id, patch), `${label}:${step.id}`); };
  const number = (name: "timeout_s" | "retries", label: string, usual: string) => (
    <div className="field">
      <label htmlFor={`${id}-${name}`}>{label}</label>
      <ParsedField key={`${step.id}-${name}`} value={step[name]} desk={{ store, step: step.id }} common={{ id: `${id}-${name}`, "data-field": name }}
        parse={(text) => (text.trim() === "" ? { value: undefined } : Number.isFinite(Number(text)) ? { value: Number(text) } : { fault: "This is no number." })}
        onChange={(value) => set(`Set ${label.toLowerCase()}`, { [name]: value as number | undefined })} />
      <span className="meta">{usual}</span>
    </div>
  );
  return (
    <div className="three">
      <div className="field">
        <label htmlFor={`${id}-join`}>Join</label>
        <select className="input" id={`${id}-join`} data-field="join" value={step.join ?? "all_of"} onChange={(e) => set("Set the join", { join: e.target.value === "all_of" ? undefined : e.target.value as Join })}>
          {joins.map(([value, word]) => <option key={value} value={value}>{word}</option>)}
        </select>
      </div>
      {number("timeout_s", "Timeout, s", tool ? `else ${tool.timeout_s}` : "")}
      {number("retries", "Retries", tool ? `else ${tool.effect === "once" ? 0 : 2}` : "")}
    </div>
  );
}

const ops: [string, string][] = [["eq", "equals"], ["ne", "is not"], ["lt", "is less than"], ["le", "is at most"], ["gt", "is more than"], ["ge", "is at least"], ["in", "is one of"], ["exists", "exists"]];

function GuardField({ store, step }: { store: Store; step: Step }) {
  const id = useId();
  const list = useId();
  const { guard } = step;
  const choices = sourcesFor(store, step.id);
  const set = (patch: Partial<Step>): void => { store.apply(`Change when ${step.id} runs`, change(store.doc, step.id, patch), `guard:${step.id}`); };
  const first = choices[0];
  const on = (): void => { if (first !== undefined) set({ guard: { ref: { step: first, field: fieldsOf(outputOf(store, first))[0]?.path ?? "" }, op: "exists" } }); };
  const put = (next: NonNullable<Step["guard"]>): void => set({ guard: next.op === "exists" ? { ref: next.ref, op: next.op } : next });
  return (
    <fieldset className="guard">
      <label className="switch"><input type="checkbox" data-field="guard" checked={guard !== undefined} disabled={guard === undefined && first === undefined} onChange={(e) => (e.target.checked ? on() : set({ guard: undefined }))} /> Only if a condition holds</label>
      {guard && (
        <div className="guard-body">
          <select className="input" aria-label="Condition: step" value={guard.ref.step} onChange={(e) => put({ ...guard, ref: { step: e.target.value, field: "" } })}>
            {!choices.includes(guard.ref.step) && <option value={guard.ref.step}>{guard.ref.step}</option>}
            {choices.map((s) => <option key={s} value={s}>{s}</option>)}
          </select>
          <input className="input mono" aria-label="Condition: field" placeholder="whole output" list={list} value={guard.ref.field} spellCheck={false} autoComplete="off" onChange={(e) => put({ ...guard, ref: { ...guard.ref, field: e.target.value } })} />
          <datalist id={list}>{fieldsOf(outputOf(store, guard.ref.step)).map((f) => <option key={f.path} value={f.path}>{f.type}</option>)}</datalist>
          <select className="input" aria-label="Condition: comparison" value={guard.op} onChange={(e) => put({ ...guard, op: e.target.value })}>
            {ops.map(([op, word]) => <option key={op} value={op}>{word}</option>)}
          </select>
          {guard.op !== "exists" && <ParsedField key={`${step.id}${guard.op}`} value={guard.value} mono rows={1} desk={{ store, step: step.id }} common={{ id: `${id}-value`, "data-field": "guard-value", ...{ "aria-label": "Condition: value, as JSON" } }} onChange={(value) => put({ ...guard, value })} parse={valueOf} write={(v) => JSON.stringify(v)} />}
        </div>
      )}
    </fieldset>
  );
}

// valueOf reads JSON, and takes words that are none as a text.
function valueOf(text: string): { value: unknown } {
  const read = readJSON(text);
  return "value" in read ? read : { value: text === "" ? undefined : text };
}

function Approval({ store, actions, step }: { store: Store; actions: Actions; step: Step }) {
  const answer = store.answers.get(step.id);
  return (
    <div className="approval">
      <label className="switch"><input type="checkbox" data-field="approval" checked={step.approval === true} onChange={(e) => actions.change(step.id, e.target.checked ? `Ask before ${step.id}` : `Do not add a stop before ${step.id}`, { approval: e.target.checked ? true : undefined })} /> Ask a person first</label>
      <p className="meta">
        {policyWords(answer, step.approval === true)} You can add a stop here, never remove one.
      </p>
    </div>
  );
}

function Why({ store, step }: { store: Store; step: Step }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Why (justifies a step that stands twice)</label>
      <input className="input" id={id} data-field="why" value={step.why ?? ""} onChange={(e) => store.apply(`Say why ${step.id}`, change(store.doc, step.id, { why: e.target.value === "" ? undefined : e.target.value }), `why:${step.id}`)} />
    </div>
  );
}

function Derived({ store, step }: { store: Store; step: Step }) {
  const tool = store.tools.get(step.tool);
  const answer = store.answers.get(step.id);
  const gives = topFields(outputOf(store, step.id));
  if (!tool) return null;
  return (
    <div className="derived">
      <h3>Derived from {step.tool}</h3>
      <dl className="kv">
        <dt>Class</dt><dd>{answer?.class ?? tool.class}</dd>
        <dt>Impact</dt><dd>{answer ? `${answer.impact}, ${answer.impact_name}` : tool.impact}{answer?.open ? " at most; it hangs on a value" : ""}</dd>
        <dt>Effect</dt><dd>{tool.effect}{tool.external ? ", external" : ""}</dd>
        <dt>Gate</dt><dd>{`${gateWords[verdictOf(answer)]}${answer?.open ? ", unless the value is harmless" : ""}`}</dd>
      </dl>
      <h3>Gives</h3>
      {gives.length === 0 ? <p className="meta">The tool does not say.</p> : <ul className="gives">{gives.map((f) => <li key={f.path} className="tag"><code>{f.path}</code> {f.type}</li>)}</ul>}
    </div>
  );
}

// PlanForm is shown while no single step is selected.
export function PlanForm({ store, actions }: { store: Store; actions: Actions }) {
  const id = useId();
  const { plan } = store.doc;
  const edge = store.edge?.split(">") as [string, string] | undefined;
  const set = (patch: Partial<typeof plan>): void => { store.apply("Change the plan", changePlan(store.doc, patch), "plan"); };
  if (edge) {
    return (
      <section className="step-form" aria-label="Connection">
        <header className="form-head"><div className="grow"><h2>{edge[0]} → {edge[1]}</h2><code>connection</code></div></header>
        <div className="form-body"><button type="button" className="button" data-kind="danger" onClick={() => { store.apply("Disconnect", disconnect(store.doc, edge[0], edge[1])); store.set({ edge: undefined }); }}>Delete connection</button></div>
      </section>
    );
  }
  return (
    <section className="step-form" aria-label="Plan">
      <header className="form-head"><div className="grow"><h2>Plan</h2><code>{plan.steps.length} {plan.steps.length === 1 ? "step" : "steps"}</code></div></header>
      <div className="form-body">
        {store.selected.size > 1 && (
          <div className="stack">
            <p>{store.selected.size} steps are selected.</p>
            <div className="row">
              <button type="button" className="button" data-size="28" onClick={() => actions.duplicate()}>Duplicate</button>
              <button type="button" className="button" data-size="28" data-kind="danger" onClick={() => actions.remove()}>Delete</button>
            </div>
          </div>
        )}
        <div className="field">
          <label htmlFor={`${id}-goal`}>Goal</label>
          <textarea className="input" id={`${id}-goal`} data-field="goal" rows={3} value={plan.goal} onChange={(e) => store.setGoal(e.target.value)} />
        </div>
        <div className="field">
          <label htmlFor={`${id}-max`}>Most steps</label>
          <ParsedField value={plan.max_steps} desk={{ store, step: "" }} common={{ id: `${id}-max`, "data-field": "max_steps" }} onChange={(value) => set({ max_steps: value as number | undefined })}
            parse={(text) => (text.trim() === "" ? { value: undefined } : /^\d+$/.test(text.trim()) ? { value: Number(text) } : { fault: "A whole number is wanted." })} />
        </div>
        <Tally store={store} />
      </div>
    </section>
  );
}

function Tally({ store }: { store: Store }) {
  const [counts, setCounts] = useState<Partial<Record<Verdict, number>>>({});
  useEffect(() => {
    const next: Partial<Record<Verdict, number>> = {};
    for (const a of store.answers.values()) { const v = verdictOf(a); next[v] = (next[v] ?? 0) + 1; }
    setCounts(next);
  }, [store.answers]);
  if (store.answers.size === 0) return null;
  return (
    <dl className="kv">
      <dt>Runs</dt><dd>{counts.allow ?? 0} without asking</dd>
      <dt>Asks</dt><dd>{(counts.ask ?? 0) + (counts.both ?? 0)} first</dd>
      {(counts.clear ?? 0) + (counts.both ?? 0) > 0 && <><dt>Clearance</dt><dd>{(counts.clear ?? 0) + (counts.both ?? 0)} by an authority</dd></>}
      <dt>Denied</dt><dd>{counts.deny ?? 0}</dd>
    </dl>
  );
}
