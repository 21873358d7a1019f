// What a tool's JSON Schemas say that a form needs.
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  code?: boolean; // set here: the text is a program
  additionalProperties?: boolean | Schema;
}

export interface Tool {
  name: string;
  family: string;
  summary: string;
  class: "fetch" | "transform" | "decide" | "act";
  effect: "read" | "idempotent" | "once";
  impact: string;
  impact_of: boolean;
  external: boolean;
  timeout_s: number;
  input: Schema | null;
  output: Schema | null;
}

export interface Param { name: string; schema: Schema; required: boolean }

export function paramsOf(tool: Tool | undefined): Param[] {
  const required = new Set(tool?.input?.required ?? []);
  const all = Object.entries(tool?.input?.properties ?? {}).map(([name, schema]) => ({ name, schema: tool?.class === "transform" && name === "code" ? { ...schema, code: true } : schema, required: required.has(name) }));
  return [...all.filter((p) => p.required), ...all.filter((p) => !p.required)];
}

export type Kind = "string" | "number" | "integer" | "boolean" | "enum" | "lines" | "rows" | "object" | "json";

const firstType = (schema: Schema): string => (Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") ?? "" : schema.type ?? "");

export function kindOf(schema: Schema): Kind {
  if (schema.enum && schema.enum.every((v) => typeof v === "string" || typeof v === "number")) return "enum";
  const type = firstType(schema);
  if (type === "string" || type === "number" || type === "integer" || type === "boolean") return type;
  if (type === "object" && schema.properties) return "object";
  const item = type === "array" && schema.items ? kindOf(schema.items) : "json";
  return item === "string" ? "lines" : item === "object" ? "rows" : "json";
}

// fits says whether the control of a schema can show a value; what it can not
// show is edited as JSON.
export function fits(schema: Schema, value: unknown): boolean {
  if (value === undefined) return true;
  const isObject = (v: unknown): boolean => typeof v === "object" && v !== null && !Array.isArray(v);
  switch (kindOf(schema)) {
    case "string": return typeof value === "string";
    case "integer":
    case "number": return typeof value === "number";
    case "lines": return Array.isArray(value) && value.every((v) => typeof v === "string" && v !== "" && v.trim() === v && !v.includes("\n"));
    case "rows": return Array.isArray(value) && value.every(isObject);
    case "object": return isObject(value) && Object.keys(value as object).every((k) => schema.properties?.[k] !== undefined);
  }
  return true;
}

// rangeWord says what a number may be.
export function rangeWord({ minimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined && maximum < 1e9) return `, ${minimum} to ${maximum}`;
  return minimum !== undefined ? `, ${minimum} or more` : "";
}

// typeWord names a type for people.
export function typeWord(schema: Schema | null | undefined): string {
  if (!schema) return "any";
  if (schema.enum) return "choice";
  const type = firstType(schema);
  if (type === "array") return schema.items ? `list of ${typeWord(schema.items)}` : "list";
  return type === "" ? "any" : type;
}

export interface Field { path: string; type: string }

const fieldsMax = 200;
const escape = (key: string): string => key.replaceAll(".", "\\.");

// fieldsOf lists what an output gives, as dot paths; a list is shown by its first item.
export function fieldsOf(schema: Schema | null | undefined): Field[] {
  const out: Field[] = [];
  const walk = (s: Schema, path: string, depth: number): void => {
    if (path !== "" && out.length < fieldsMax) out.push({ path, type: typeWord(s) });
    if (depth > 6 || out.length >= fieldsMax) return;
    for (const [key, inner] of Object.entries(s.properties ?? {})) walk(inner, path === "" ? escape(key) : `${path}.${escape(key)}`, depth + 1);
    if (s.items) walk(s.items, path === "" ? "0" : `${path}.0`, depth + 1);
  };
  if (schema) walk(schema, "", 0);
  return out;
}

// likelyField is the one field of an output that bears the name and type of a
// parameter, "" where there is none.
export function likelyField(output: Schema | null | undefined, { name, schema }: Param): string {
  const same = fieldsOf(output).filter((f) => f.path.split(".").at(-1) === name && f.type === typeWord(schema));
  const top = same.filter((f) => f.path === name);
  return (top.length > 0 ? top : same.length === 1 ? same : [])[0]?.path ?? "";
}

// topFields is fieldsOf without what lies deeper.
export const topFields = (schema: Schema | null | undefined): Field[] =>
  Object.entries(schema?.properties ?? {}).map(([key, inner]) => ({ path: escape(key), type: typeWord(inner) }));

export const groupOf = (tool: Tool): "Read" | "Shape" | "Act" => (tool.class === "fetch" ? "Read" : tool.class === "act" ? "Act" : "Shape");
