// A control for one value, by its schema: text, number, choice, lines, rows of an
// object, or JSON for what has no form of its own.
import { useEffect, useId, useRef, useState } from "react";
import { readJSON } from "./jsontext";
import { Icon, Problem } from "./parts";
import { fits, kindOf, typeWord, type Schema } from "./schema";
import type { Store } from "./store";
import { unreadKey } from "./unread";

export type Common = { id: string; "data-field": string };

// Desk is where text lies that cannot be read yet: the step's fields in the
// store, "" for fields of the plan.
export interface Desk { store: Store; step: string }

interface ValueProps { schema: Schema; value: unknown; required: boolean; common: Common; desk: Desk; onChange(value: unknown): void }

export function ValueField(props: ValueProps) {
  const { schema, value, required, common, desk, onChange } = props;
  const kind = fits(schema, value) ? kindOf(schema) : "json";
  switch (kind) {
    case "string": {
      const isEmptyMeant = required && !schema.minLength;
      return <TextField value={typeof value === "string" ? value : ""} long={(schema.maxLength ?? 0) >= 65536} code={schema.code === true} common={common} onChange={(text) => onChange(text === "" && !isEmptyMeant ? undefined : text)} />;
    }
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
      return <ParsedField value={value} common={common} desk={desk} parse={(text) => numberOf(text, kind === "integer")} onChange={onChange} />;
    case "lines":
      return <ParsedField value={value} common={common} desk={desk} rows={2} placeholder="one a line" write={(v) => (v as string[]).join("\n")} parse={linesOf} onChange={onChange} />;
    case "object":
      return <ObjectField {...props} />;
    case "rows":
      return <RowsField {...props} />;
  }
  return <ParsedField value={value} common={common} desk={desk} mono rows={1} placeholder="JSON" parse={jsonOf} write={(v) => JSON.stringify(v, null, 1).replace(/\n\s*/g, " ")} onChange={onChange} />;
}

function TextField({ value, long, code, common, onChange }: { value: string; long: boolean; code: boolean; common: Common; onChange(text: string): void }) {
  const rows = Math.min(12, Math.max(long ? 3 : 1, value.split("\n").length, Math.ceil(value.length / 42)));
  return <textarea className={code ? "input mono" : "input"} {...common} rows={rows} spellCheck={!code} value={value} onChange={(e) => onChange(e.target.value)} />;
}

// ObjectField has a control for each member; a member of no control is kept.
function ObjectField({ schema, value, common, desk, onChange }: ValueProps) {
  const id = useId();
  const all = (value ?? {}) as Record<string, unknown>;
  const put = (name: string, next: unknown): void => {
    const { [name]: _, ...rest } = all;
    const object = next === undefined ? rest : { ...all, [name]: next };
    onChange(Object.keys(object).length > 0 ? object : undefined);
  };
  return (
    <div className="nested">
      {Object.entries(schema.properties ?? {}).map(([name, inner]) => {
        const required = schema.required?.includes(name) === true;
        return (
          <div key={name} className="field">
            <label htmlFor={`${id}-${name}`}><code>{name}</code> <span className="meta">{required ? "required" : typeWord(inner)}</span></label>
            <ValueField schema={inner} value={all[name]} required={required} common={{ id: `${id}-${name}`, "data-field": `${common["data-field"]}/${name}` }} desk={desk} onChange={(next) => put(name, next)} />
            {inner.description && <p className="meta">{inner.description}</p>}
          </div>
        );
      })}
    </div>
  );
}

// RowsField is a list of objects, one box each.
function RowsField({ schema, value, common, desk, onChange }: ValueProps) {
  const rows = (value ?? []) as unknown[];
  const put = (next: unknown[]): void => onChange(next.length > 0 ? next : undefined);
  return (
    <div className="nested-rows">
      {rows.map((row, i) => (
        <fieldset key={i} className="nested-row">
          <legend>{i + 1}</legend>
          <ValueField schema={schema.items ?? {}} value={row} required common={{ id: `${common.id}-${i}`, "data-field": `${common["data-field"]}/${i}` }} desk={desk} onChange={(next) => put(rows.map((r, k) => (k === i ? next ?? {} : r)))} />
          <button type="button" className="link" onClick={() => put(rows.filter((_, k) => k !== i))}>Remove {i + 1}</button>
        </fieldset>
      ))}
      <button type="button" className="button" data-size="28" {...common} onClick={() => put([...rows, {}])}><Icon name="plus" size={14} />Add</button>
    </div>
  );
}

export type Parsed = { value: unknown } | { fault: string };

function numberOf(text: string, whole: boolean): Parsed {
  if (text.trim() === "") return { value: undefined };
  const n = Number(text);
  if (!Number.isFinite(n)) return { fault: "This is no number." };
  if (whole && !Number.isInteger(n)) return { fault: "A whole number is wanted." };
  if (whole && !Number.isSafeInteger(n)) return { fault: "This is beyond ±2^53." };
  return { value: n };
}

const linesOf = (text: string): Parsed => {
  const lines = text.split("\n").map((l) => l.trim()).filter((l) => l !== "");
  return { value: lines.length > 0 ? lines : undefined };
};

function jsonOf(text: string): Parsed {
  if (text.trim() === "") return { value: undefined };
  const read = readJSON(text);
  return "fault" in read ? { fault: `Line ${read.fault.line}, column ${read.fault.column}: ${read.fault.message}.` } : read;
}

interface ParsedProps {
  value: unknown; common: Common; desk: Desk; mono?: boolean; rows?: number; placeholder?: string;
  write?(value: unknown): string; parse(text: string): Parsed; onChange(value: unknown): void;
}

// ParsedField keeps what is typed while it is not yet a value, also when its
// step is left and come back to.
export function ParsedField({ value, common, desk, mono, rows, placeholder, write = String, parse, onChange }: ParsedProps) {
  const { store } = desk;
  const key = unreadKey(desk.step, common["data-field"]);
  const held = store.unread.get(key);
  const written = (v: unknown): string => (v === undefined ? "" : write(v));
  const [text, setText] = useState(() => held?.text ?? written(value));
  const mine = useRef(value);
  useEffect(() => {
    if (JSON.stringify(mine.current) === JSON.stringify(value)) return;
    // Only a value that changed from outside replaces what is typed.
    mine.current = value;
    setText(written(value));
    store.hold(key, undefined);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [value]);
  const type = (next: string): void => {
    setText(next);
    const parsed = parse(next);
    if ("fault" in parsed) { store.hold(key, { text: next, fault: parsed.fault }); return; }
    store.hold(key, undefined);
    mine.current = parsed.value;
    onChange(parsed.value);
  };
  const own = held ? { "aria-invalid": true, "aria-describedby": `${common.id}-text` } as const : {};
  const high = rows === undefined ? 0 : Math.min(8, Math.max(rows, text.split("\n").length, Math.ceil(text.length / 40)));
  return (
    <>
      {rows === undefined
        ? <input className="input" {...common} {...own} inputMode="decimal" value={text} onChange={(e) => type(e.target.value)} />
        : <textarea className={mono ? "input mono" : "input"} {...common} {...own} rows={high} spellCheck={false} value={text} onChange={(e) => type(e.target.value)} placeholder={placeholder} />}
      {held && <Problem id={`${common.id}-text`}>{held.fault}</Problem>}
    </>
  );
}
