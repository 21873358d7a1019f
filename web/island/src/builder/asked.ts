// Whom the gate would ask about a step: people, authorities, or both.
import type { Answer } from "./wire";

export type Verdict = "" | "allow" | "ask" | "clear" | "both" | "deny";

export function verdictOf(a: Answer | undefined): Verdict {
  if (a?.decision !== "ask" || !a.clear?.length) return a?.decision ?? "";
  return a.asks.length > 0 ? "both" : "clear";
}

// asksWords is what the step does, "" where it asks nobody.
export const asksWords: Record<Verdict, string> = {
  "": "", allow: "", deny: "", ask: "asks a person", clear: "asks an authority", both: "asks an authority and a person",
};

export const gateWords: Record<Verdict, string> = {
  "": "not known yet", allow: "Runs without asking", deny: "Would be denied",
  ask: "Stops and asks a person", clear: "Asks an authority", both: "Asks an authority, then stops and asks a person",
};

const ruleWords = (rules: string[]): string => (rules.length === 0 ? "" : `: ${rules.length === 1 ? "rule" : "rules"} ${rules.join(" and ")}`);

// policyWords says what the policy adds to a step, whatever the plan says.
export function policyWords(a: Answer | undefined, planAsks: boolean): string {
  if (!a) return "";
  if (a.decision === "deny") return `Policy would deny it: ${a.reasons.join(" ")}`;
  const cleared = new Set((a.clear ?? []).map((c) => c.rule));
  const rules = a.rules.filter((r) => r !== "plan" && !cleared.has(r));
  const asksPeople = a.decision === "ask" && a.asks.length > 0 && (!planAsks || rules.length > 0);
  const people = asksPeople ? `Policy would ask anyway${ruleWords(rules)}.` : cleared.size > 0 ? "Policy would ask no person." : "Policy would not ask.";
  return cleared.size > 0 ? `Policy asks an authority${ruleWords([...cleared])}. ${people}` : people;
}
