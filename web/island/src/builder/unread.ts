// What is typed and cannot be read yet. The plan does not hold it, so it is a
// finding: a run would use what stood there before.
import type { Doc } from "./core";
import type { Finding } from "./wire";

export interface Unread { text: string; fault: string }

export const jsonKey = "json";
export const unreadKey = (step: string, field: string): string => `${step}|${field}`;

export function unreadFindings(doc: Doc, unread: ReadonlyMap<string, Unread>): Finding[] {
  return [...unread].flatMap(([key, { fault }]): Finding[] => {
    if (key === jsonKey) return [{ rule: "JSON", severity: "error", step: "", pointer: "", message: fault, fix: "The drawing shows the last plan that could be read." }];
    const bar = key.indexOf("|");
    const [step, field] = [key.slice(0, bar), key.slice(bar + 1)];
    const index = doc.plan.steps.findIndex((s) => s.id === step);
    if (index < 0 && step !== "") return [];
    const at = field.startsWith("param:") ? `params/${field.slice(6)}` : field;
    return [{ rule: "TEXT", severity: "error", step, pointer: step === "" ? `/${at}` : `/steps/${index}/${at}`, message: `What is typed here is not in the plan yet: ${fault}`, fix: "Finish it, or clear the field." }];
  });
}
