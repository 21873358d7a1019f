// Findings that have one sure remedy.
import { change, type Doc, type Step } from "./core";
import type { Finding } from "./wire";

export interface Fix { label: string; intent?: string; scopes?: string[]; apply(doc: Doc): Doc }

// Around is what is known beside the plan.
export interface Around { impact?: string; scopes: string[]; all: { name: string; tools: string[] }[] }

interface Place { step: Step; rest: string[] }

// placeOf reads a finding's pointer: /steps/3/depends_on/0.
export function placeOf(doc: Doc, finding: Finding): Place | undefined {
  const [, list, index, ...rest] = finding.pointer.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const step = list === "steps" ? doc.plan.steps[Number(index)] : undefined;
  return step && (finding.step === "" || step.id === finding.step) ? { step, rest } : undefined;
}

// fixOf gives the remedy; impact is the name of what the gate ranked the step at.
export function fixOf(doc: Doc, finding: Finding, { impact = "", scopes, all }: Around = { scopes: [], all: [] }): Fix | undefined {
  const at = placeOf(doc, finding);
  if (!at) return undefined;
  const { step, rest: [part, name] } = at;
  const without = (key: keyof Step): Fix => ({ label: `Remove ${String(key)}`, apply: (d) => change(d, step.id, { [key]: undefined }) });
  const isEdge = part === "depends_on" && name !== undefined;
  if (isEdge && (finding.rule === "R13" || finding.rule === "C10")) {
    const kept = step.depends_on?.filter((_, i) => i !== Number(name)) ?? [];
    return { label: "Remove the dependency", apply: (d) => change(d, step.id, { depends_on: kept.length > 0 ? kept : undefined }) };
  }
  if (finding.rule === "C11" && impact !== "" && /of the intent/.test(finding.message)) return { label: `Use the intent ${impact}`, intent: impact, apply: (d) => d };
  const scope = finding.rule === "C06" ? all.find((s) => s.tools.includes(step.tool)) : undefined;
  if (scope) return { label: `Add the scope ${scope.name}`, scopes: [...scopes, scope.name], apply: (d) => d };
  if (finding.rule === "C08") return { label: "Ask a person first", apply: (d) => change(d, step.id, { approval: true }) };
  if (finding.rule === "P11" && part === "class") return without("class");
  if (finding.rule === "P10" && part === "retries") return without("retries");
  if (part === "params" && name !== undefined && /additional|unknown|not allowed|no parameter/i.test(finding.message)) {
    const params = { ...step.params };
    delete params[name];
    return { label: `Remove ${name}`, apply: (d) => change(d, step.id, { params: Object.keys(params).length > 0 ? params : undefined }) };
  }
  return undefined;
}
