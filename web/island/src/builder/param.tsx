// One parameter of a step: a value or a reference, by a control that fits its schema.
import { useEffect, useId, useState } from "react";
import type { Actions } from "./actions";
import { after, setParam, type Ref, type Step } from "./core";
import { readJSON } from "./jsontext";
import { Problem } from "./parts";
import { fieldsOf, kindOf, typeWord, type Param, type Schema } from "./schema";
import type { Store } from "./store";

interface Props { store: Store; actions: Actions; step: Step; param: Param; problems: string[] }

export function ParamField({ store, actions, step, param, problems }: Props) {
  const { name, schema, required } = param;
  const ref = step.param_refs?.[name];
  const [wantsRef, setWantsRef] = useState(ref !== undefined);
  useEffect(() => setWantsRef(ref !== undefined), [ref !== undefined, step.id]);
  const id = useId();
  const problemID = `${id}-problem`;
  const set = (value: unknown): void => { store.apply(`Set ${name} of ${step.id}`, setParam(store.doc, step.id, name, value), `param:${step.id}.${name}`); };
  const common = { id, "data-field": `param:${name}`, "aria-invalid": problems.length > 0 || undefined, "aria-describedby": problems.length > 0 ? problemID : undefined } as const;
  return (
    <div className="step-param">
      <div className="param-head">
        <label htmlFor={id}><code>{name}</code></label>
        <span className="meta">{required ? "required" : typeWord(schema)}</span>
        <div className="segments" role="group" aria-label={`${name}: value or reference`}>
          <button type="button" className="segment" aria-pressed={!wantsRef} onClick={() => { setWantsRef(false); if (ref) set(undefined); }}>Value</button>
          <button type="button" className="segment" aria-pressed={wantsRef} onClick={() => setWantsRef(true)}>Reference</button>
        </div>
      </div>
      {wantsRef
        ? <RefField store={store} step={step} current={ref} common={common} onChange={(next) => actions.reference(step.id, name, next)} />
        : <ValueField schema={schema} value={step.params?.[name]} required={required} common={common} onChange={set} />}
      {problems.length > 0 && <Problem id={problemID}>{problems.join(" ")}</Problem>}
      {schema.description && problems.length === 0 && <p className="meta">{schema.description}</p>}
    </div>
  );
}

type Common = { id: string; "data-field": string };

interface ValueProps { schema: Schema; value: unknown; required: boolean; common: Common; onChange(value: unknown): void }

export function ValueField({ schema, value, required, common, onChange }: ValueProps) {
  switch (kindOf(schema)) {
    case "string":
      return <TextField value={typeof value === "string" ? value : ""} foreign={value !== undefined && typeof value !== "string" ? JSON.stringify(value) : ""} common={common} onChange={(text) => onChange(text === "" ? undefined : text)} />;
    case "enum":
    case "boolean": {
      const choices = schema.enum ?? [true, false];
      return (
        <select className="input" {...common} value={value === undefined ? "" : JSON.stringify(value)} onChange={(e) => onChange(e.target.value === "" ? undefined : JSON.parse(e.target.value))}>
          <option value="">{required ? "Choose…" : "Not set"}</option>
          {choices.map((c) => <option key={JSON.stringify(c)} value={JSON.stringify(c)}>{String(c)}</option>)}
          {value !== undefined && !choices.some((c) => JSON.stringify(c) === JSON.stringify(value)) && <option value={JSON.stringify(value)}>{JSON.stringify(value)}</option>}
        </select>
      );
    }
    case "integer":
    case "number":
      return <ParsedField value={value} common={common} mono={false} parse={(text) => numberOf(text, kindOf(schema) === "integer")} onChange={onChange} />;
  }
  return <ParsedField value={value} common={common} mono parse={jsonOf} onChange={onChange} />;
}

function TextField({ value, foreign, common, onChange }: { value: string; foreign: string; common: Common; onChange(text: string): void }) {
  const rows = Math.min(8, Math.max(1, value.split("\n").length, Math.ceil(value.length / 42)));
  return <textarea className="input" {...common} rows={rows} value={foreign === "" ? value : foreign} onChange={(e) => onChange(e.target.value)} />;
}

type Parsed = { value: unknown } | { fault: string };

function numberOf(text: string, whole: boolean): Parsed {
  if (text.trim() === "") return { value: undefined };
  const n = Number(text);
  if (!Number.isFinite(n)) return { fault: "This is no number." };
  if (whole && !Number.isInteger(n)) return { fault: "A whole number is wanted." };
  return { value: n };
}

function jsonOf(text: string): Parsed {
  if (text.trim() === "") return { value: undefined };
  const read = readJSON(text);
  return "fault" in read ? { fault: `Line ${read.fault.line}, column ${read.fault.column}: ${read.fault.message}.` } : read;
}

const written = (value: unknown, mono: boolean): string => (value === undefined ? "" : mono ? JSON.stringify(value, null, 1).replace(/\n\s*/g, " ") : String(value));

// ParsedField keeps what is typed while it is not yet a value.
export function ParsedField({ value, common, mono, parse, onChange }: { value: unknown; common: Common; mono: boolean; parse(text: string): Parsed; onChange(value: unknown): void }) {
  const [text, setText] = useState(() => written(value, mono));
  const [fault, setFault] = useState("");
  useEffect(() => {
    const parsed = parse(text);
    if ("fault" in parsed ? fault === "" : JSON.stringify(parsed.value) !== JSON.stringify(value)) { setText(written(value, mono)); setFault(""); }
    // Only a value that changed from outside replaces what is typed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [value]);
  const type = (next: string): void => {
    setText(next);
    const parsed = parse(next);
    setFault("fault" in parsed ? parsed.fault : "");
    if (!("fault" in parsed)) onChange(parsed.value);
  };
  const own = fault !== "" ? { "aria-invalid": true, "aria-describedby": `${common.id}-text` } as const : {};
  return (
    <>
      {mono
        ? <textarea className="input mono" {...common} {...own} rows={Math.min(8, Math.max(1, Math.ceil(text.length / 40)))} spellCheck={false} value={text} onChange={(e) => type(e.target.value)} placeholder="JSON" />
        : <input className="input" {...common} {...own} inputMode="decimal" value={text} onChange={(e) => type(e.target.value)} />}
      {fault !== "" && <Problem id={`${common.id}-text`}>{fault}</Problem>}
    </>
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

interface RefProps { store: Store; step: Step; current: Ref | undefined; common: Common; onChange(ref: Ref): void }

function RefField({ store, step, current, common, onChange }: RefProps) {
  const choices = sourcesFor(store, step.id);
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
    if (!current && ref.field === "" && next.field === undefined) return; // the field is chosen next
    onChange({ step: ref.step, field: ref.field, template: ref.template === "" ? undefined : ref.template } as Ref);
  };
  const badTemplate = template !== "" && template.split("{{value}}").length !== 2;
  return (
    <div className="ref">
      <select className="input" {...common} aria-label={`${common["data-field"].slice(6)}: step`} value={from} onChange={(e) => { setFrom(e.target.value); setField(""); commit({ step: e.target.value, field: current ? "" : undefined as never }); }}>
        <option value="" disabled>Choose a step…</option>
        {from !== "" && !choices.includes(from) && <option value={from}>{from}</option>}
        {choices.map((s) => <option key={s} value={s}>{s}</option>)}
      </select>
      <input className="input mono" aria-label={`${common["data-field"].slice(6)}: field`} placeholder="whole output" list={list} value={field} spellCheck={false} autoComplete="off"
        onChange={(e) => { setField(e.target.value); if (from !== "") commit({ field: e.target.value }); }} />
      <datalist id={list}>{fields.map((f) => <option key={f.path} value={f.path}>{f.type}</option>)}</datalist>
      <span className="ref-type meta">{type}</span>
      <input className="input mono ref-template" aria-label={`${common["data-field"].slice(6)}: template`} placeholder="{{value}}" value={template} spellCheck={false} aria-invalid={badTemplate || undefined}
        onChange={(e) => { setTemplate(e.target.value); if (from !== "" && (e.target.value === "" || e.target.value.split("{{value}}").length === 2)) commit({ template: e.target.value }); }} />
      {badTemplate && <Problem>A template has {"{{value}}"} exactly once.</Problem>}
      {choices.length === 0 && <p className="meta">No other step comes before this one. Add one first.</p>}
    </div>
  );
}
