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
  maxLength?: number;
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
  const all = Object.entries(tool?.input?.properties ?? {}).map(([name, schema]) => ({ name, schema, required: required.has(name) }));
  return [...all.filter((p) => p.required), ...all.filter((p) => !p.required)];
}

export type Kind = "string" | "number" | "integer" | "boolean" | "enum" | "json";

const firstType = (schema: Schema): string => (Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") ?? "" : schema.type ?? "");

export function kindOf(schema: Schema): Kind {
  if (schema.enum && schema.enum.every((v) => typeof v === "string" || typeof v === "number")) return "enum";
  const type = firstType(schema);
  return type === "string" || type === "number" || type === "integer" || type === "boolean" ? type : "json";
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

// topFields is fieldsOf without what lies deeper.
export const topFields = (schema: Schema | null | undefined): Field[] =>
  Object.entries(schema?.properties ?? {}).map(([key, inner]) => ({ path: escape(key), type: typeWord(inner) }));

export const groupOf = (tool: Tool): "Read" | "Shape" | "Act" => (tool.class === "fetch" ? "Read" : tool.class === "act" ? "Act" : "Shape");
