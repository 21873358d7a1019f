// One parameter of a step: a value or a reference, by a control that fits its schema.
import { useEffect, useId, useState } from "react";
import type { Actions } from "./actions";
import { after, setParam, type Ref, type Step } from "./core";
import { Problem } from "./parts";
import { fieldsOf, likelyField, rangeWord, typeWord, type Param, type Schema } from "./schema";
import type { Store } from "./store";
import { unreadKey } from "./unread";
import { ValueField, type Common } from "./values";

interface Props { store: Store; actions: Actions; step: Step; param: Param; problems: string[] }

export function ParamField({ store, actions, step, param, problems }: Props) {
  const { name, schema, required } = param;
  const ref = step.param_refs?.[name];
  const [wantsRef, setWantsRef] = useState(ref !== undefined);
  useEffect(() => setWantsRef(ref !== undefined), [ref !== undefined, step.id]);
  const id = useId();
  const problemID = `${id}-problem`;
  const set = (value: unknown): void => { store.apply(`Set ${name} of ${step.id}`, setParam(store.doc, step.id, name, value), `param:${step.id}.${name}`); };
  // The other kind is remembered, so that going there and back loses nothing.
  const key = unreadKey(step.id, `param:${name}`);
  const remember = (): void => { store.memory.set(key, { ...store.memory.get(key), ...(ref ? { ref } : { value: step.params?.[name] }) }); };
  const refer = (next: Ref): void => {
    if (!ref) { remember(); store.hold(key, undefined); }
    actions.reference(step.id, name, next);
  };
  const toValue = (): void => {
    setWantsRef(false);
    if (!ref) return;
    remember();
    set(store.memory.get(key)?.value);
  };
  const toRef = (): void => {
    setWantsRef(true);
    const last = store.memory.get(key)?.ref;
    if (!ref && last && sourcesFor(store, step.id).includes(last.step)) refer(last);
  };
  const common = { id, "data-field": `param:${name}`, "aria-invalid": problems.length > 0 || undefined, "aria-describedby": problems.length > 0 ? problemID : undefined } as const;
  return (
    <div className="step-param">
      <div className="param-head">
        <label htmlFor={id}><code>{name}</code></label>
        <span className="meta">{required ? "required" : typeWord(schema)}{rangeWord(schema)}</span>
        <div className="segments" role="group" aria-label={`${name}: value or reference`}>
          <button type="button" className="segment" aria-pressed={!wantsRef} onClick={toValue}>Value</button>
          <button type="button" className="segment" aria-pressed={wantsRef} onClick={toRef}>Reference</button>
        </div>
      </div>
      {wantsRef
        ? <RefField store={store} step={step} current={ref} param={param} common={common} onChange={refer} />
        : <ValueField schema={schema} value={step.params?.[name]} required={required} common={common} desk={{ store, step: step.id }} onChange={set} />}
      {problems.length > 0 && <Problem id={problemID}>{problems.join(" ")}</Problem>}
      {schema.description && problems.length === 0 && <p className="meta">{schema.description}</p>}
    </div>
  );
}

// outputOf is the schema of what a step gives: its own contract, else its tool's.
export function outputOf(store: Store, id: string): Schema | null {
  const step = store.doc.plan.steps.find((s) => s.id === id);
  const contract = step?.contract as { schema?: Schema } | undefined;
  return contract?.schema ?? store.tools.get(step?.tool ?? "")?.output ?? null;
}

// sourcesFor are the steps whose output may be read: all that do not come after.
export const sourcesFor = (store: Store, id: string): string[] => {
  const later = after(store.doc.plan, id);
  return store.doc.plan.steps.map((s) => s.id).filter((s) => !later.has(s));
};

interface RefProps { store: Store; step: Step; current: Ref | undefined; param: Param; common: Common; onChange(ref: Ref): void }

function RefField({ store, step, current, param, common, onChange }: RefProps) {
  const choices = sourcesFor(store, step.id);
  const noSuch = current !== undefined && !choices.includes(current.step);
  const [from, setFrom] = useState(current?.step ?? "");
  const [field, setField] = useState(current?.field ?? "");
  const [template, setTemplate] = useState(current?.template ?? "");
  useEffect(() => { if (current) { setFrom(current.step); setField(current.field); setTemplate(current.template ?? ""); } }, [current]);
  const list = useId();
  const fields = fieldsOf(outputOf(store, from));
  const type = fields.find((f) => f.path === field)?.type ?? "";
  const commit = (next: Partial<Ref>): void => {
    const ref = { step: from, field, template, ...next };
    if (ref.step === "") return;
    onChange({ step: ref.step, field: ref.field, template: ref.template === "" ? undefined : ref.template } as Ref);
  };
  // choose takes a step, and the field that bears the parameter's name and type.
  const choose = (chosen: string): void => {
    const likely = likelyField(outputOf(store, chosen), param);
    setFrom(chosen);
    setField(likely);
    commit({ step: chosen, field: likely });
  };
  const badTemplate = template !== "" && template.split("{{value}}").length !== 2;
  return (
    <div className="ref">
      <select className="input" {...common} aria-label={`${common["data-field"].slice(6)}: step`} value={from} onChange={(e) => choose(e.target.value)}>
        <option value="" disabled>Choose a step…</option>
        {from !== "" && !choices.includes(from) && <option value={from}>{from}{noSuch ? " (does not come before)" : ""}</option>}
        {choices.map((s) => <option key={s} value={s}>{s}</option>)}
      </select>
      <div className="with-unit">
        <input className="input mono" aria-label={`${common["data-field"].slice(6)}: field`} placeholder="whole output" list={list} value={field} spellCheck={false} autoComplete="off"
          onChange={(e) => { setField(e.target.value); if (from !== "") commit({ field: e.target.value }); }} />
        <span className="unit">{type}</span>
      </div>
      <datalist id={list}>{fields.map((f) => <option key={f.path} value={f.path}>{f.type}</option>)}</datalist>
      <div className="with-unit ref-template">
        <input className="input mono" aria-label={`${common["data-field"].slice(6)}: template`} placeholder="{{value}}" value={template} spellCheck={false} aria-invalid={badTemplate || undefined}
          onChange={(e) => { setTemplate(e.target.value); if (from !== "" && (e.target.value === "" || e.target.value.split("{{value}}").length === 2)) commit({ template: e.target.value }); }} />
        <span className="unit">template</span>
      </div>
      {badTemplate && <Problem>A template has {"{{value}}"} exactly once.</Problem>}
      {choices.length === 0 && <p className="meta">No other step comes before this one. Add one first.</p>}
    </div>
  );
}
