// From a value to a document: is it a plan in form 1, and where do its steps go?
import { freePlace, idPattern, sources, type Doc, type Place, type Plan, type Step } from "./core";
import { tidy } from "./layout";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const textsOnly = (value: unknown): boolean => Array.isArray(value) && value.every((v) => typeof v === "string");

// shapeFault says why a value cannot be drawn, "" when it can. What can be drawn
// may still be wrong: that is for the findings.
export function shapeFault(value: unknown): string {
  if (!isObject(value)) return "a plan is an object";
  if (!Array.isArray(value.steps)) return "“steps” is no list";
  const seen = new Set<string>();
  for (const [i, step] of value.steps.entries()) {
    const fault = stepFault(step);
    if (fault !== "") return `step ${i + 1}: ${fault}`;
    const { id } = step as Step;
    if (seen.has(id)) return `step ${i + 1}: the id “${id}” stands twice`;
    seen.add(id);
  }
  if (value.goal !== undefined && typeof value.goal !== "string") return "“goal” is no text";
  return "";
}

function stepFault(step: unknown): string {
  if (!isObject(step)) return "it is no object";
  if (typeof step.id !== "string" || !idPattern.test(step.id)) return "“id” is not as wanted: a small letter, then small letters, digits, _ and -";
  if (typeof step.tool !== "string") return "“tool” is no text";
  if (step.params !== undefined && !isObject(step.params)) return "“params” is no object";
  if (step.depends_on !== undefined && !textsOnly(step.depends_on)) return "“depends_on” is no list of ids";
  if (step.param_refs !== undefined && (!isObject(step.param_refs) || !Object.values(step.param_refs).every(isRef))) return "“param_refs” is not {name: {step, field}}";
  if (step.guard !== undefined && !(isObject(step.guard) && isRef(step.guard.ref))) return "“guard” is not {ref, op, value}";
  return "";
}

const isRef = (value: unknown): boolean => isObject(value) && typeof value.step === "string" && typeof value.field === "string";

export interface Slot { name: string; default?: unknown }

// filled is a template's plan with the defaults of its slots; a slot that has none
// is left out, so that the check says what is missing.
export function filled(plan: Plan, slots: Slot[]): Plan {
  const values = new Map(slots.map((s) => [s.name, s.default]));
  const put = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put).filter((v) => v !== undefined);
    if (!isObject(value)) return value;
    if (typeof value.$slot === "string" && Object.keys(value).length === 1) return values.get(value.$slot);
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, put(v)]).filter(([, v]) => v !== undefined));
  };
  const goal = plan.goal.replace(/\{([a-z][a-z0-9_]*)\}/g, (gap, name: string) => {
    const value = values.get(name);
    return value === undefined ? gap : typeof value === "string" ? value : JSON.stringify(value);
  });
  return { ...plan, goal, steps: put(plan.steps) as Step[] };
}

// docOf places a plan's steps: those that are known stay, a plan of which
// nothing is known is laid out whole.
export function docOf(plan: Plan, known: Doc["places"]): Doc {
  const full: Plan = { ...plan, format: plan.format ?? 1, goal: plan.goal ?? "" };
  const kept: Record<string, Place> = {};
  for (const s of full.steps) if (known[s.id]) kept[s.id] = known[s.id] as Place;
  const fresh = full.steps.filter((s) => !kept[s.id]);
  if (fresh.length === 0) return { plan: full, places: kept };
  if (Object.keys(kept).length === 0) return { plan: full, places: tidy(full) };
  for (const s of fresh) kept[s.id] = freePlace(kept, [...sources(s).keys()].findLast((id) => kept[id]));
  return { plan: full, places: kept };
}
