// The builder's document, history, text and layout, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addStep, after, canConnect, cardHeight, cardWidth, change, connect, copy, disconnect, edgesOf, emptyDoc, freeID, move, paste, removeSteps, rename,
  setParam, setRef, shift, stepOf, type Doc, type Step,
} from "../src/builder/core";
import { asksWords, policyWords, verdictOf } from "../src/builder/asked";
import { nameOf, noteOf } from "../src/builder/card";
import { fixOf } from "../src/builder/fixes";
import { History } from "../src/builder/history";
import { readJSON } from "../src/builder/jsontext";
import { tidy } from "../src/builder/layout";
import { pathOf } from "../src/builder/path";
import { docOf, filled, shapeFault } from "../src/builder/read";
import { fieldsOf, fits, kindOf, likelyField, paramsOf, type Schema, type Tool } from "../src/builder/schema";
import { Store } from "../src/builder/store";
import { unreadFindings } from "../src/builder/unread";
import type { Answer, Boot, Finding, Report } from "../src/builder/wire";

const docWith = (...steps: Step[]): Doc => docOf({ format: 1, goal: "g", steps }, {});

const three = (): Doc => docWith(
  { id: "a", tool: "file.list" },
  { id: "b", tool: "file.read", param_refs: { path: { step: "a", field: "entries.0.path" } } },
  { id: "c", tool: "sysinfo", depends_on: ["a", "b"], join: "any_of", guard: { ref: { step: "b", field: "size_bytes" }, op: "gt", value: 0 } },
);

function random(seed: number): () => number {
  let state = seed;
  return () => { state = (state * 1664525 + 1013904223) % 4294967296; return state / 4294967296; };
}

type Edit = (doc: Doc, pick: () => string, next: () => number) => Doc;

// edits is everything that can be done to a document.
const edits: Edit[] = [
  (d, _, next) => addStep(d, next() < 0.5 ? "sysinfo" : "file.read").doc,
  (d, pick) => removeSteps(d, [pick()]),
  (d, pick) => connect(d, pick(), pick()),
  (d, pick) => disconnect(d, pick(), pick()),
  (d, pick, next) => rename(d, pick(), `n${Math.floor(next() * 50)}`),
  (d, pick, next) => move(d, [pick(), pick()], Math.floor(next() * 9), 4),
  (d, pick) => setParam(d, pick(), "path", "x"),
  (d, pick) => { const [from, to] = [pick(), pick()]; return canConnect(d.plan, from, to) ? setRef(d, to, "path", { step: from, field: "f" }) : d; },
  (d, pick) => paste(d, copy(d, new Set([pick(), pick()]))).doc,
  (d, pick) => shift(d, pick(), 1),
  (d, pick, next) => change(d, pick(), { join: next() < 0.5 ? "any_of" : undefined, approval: true }),
];

function scribble(seed: number, times: number): { states: Doc[]; history: History } {
  const next = random(seed);
  const history = new History();
  const states = [three()];
  for (let i = 0; i < times; i++) {
    const doc = states.at(-1) as Doc;
    const pick = (): string => doc.plan.steps[Math.floor(next() * doc.plan.steps.length)]?.id ?? "none";
    const made = (edits[Math.floor(next() * edits.length)] as Edit)(doc, pick, next);
    if (made === doc) continue;
    history.record("edit", doc, made, i * 5000);
    states.push(made);
  }
  return { states, history };
}

test("P08 undoing any sequence of edits gives the start, redoing gives the end", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { states, history } = scribble(seed, 100);
    const texts = states.map((s) => JSON.stringify(s));
    for (let i = states.length - 2; i >= 0; i--) assert.equal(JSON.stringify(history.undo()?.undo()), texts[i], `seed ${seed}, undo to ${i}`);
    assert.equal(history.undo(), undefined);
    for (let i = 1; i < states.length; i++) assert.equal(JSON.stringify(history.redo()?.do()), texts[i], `seed ${seed}, redo to ${i}`);
    assert.equal(history.redo(), undefined);
  }
});

test("P08 no edit leaves a mention of a step that is gone, a place of none, an id twice or a cycle", () => {
  for (let seed = 1; seed <= 60; seed++) {
    for (const { plan, places } of scribble(seed, 100).states) {
      const ids = plan.steps.map((s) => s.id);
      assert.equal(new Set(ids).size, ids.length, `seed ${seed}: an id stands twice`);
      assert.deepEqual(Object.keys(places).sort(), [...ids].sort(), `seed ${seed}: places`);
      const named = plan.steps.flatMap((s) => [...(s.depends_on ?? []), ...Object.values(s.param_refs ?? {}).map((r) => r.step), ...(s.guard ? [s.guard.ref.step] : [])]);
      assert.deepEqual(named.filter((id) => !ids.includes(id)), [], `seed ${seed}`);
      for (const e of edgesOf(plan)) assert.equal(after(plan, e.to).has(e.from), false, `seed ${seed}: a cycle`);
    }
  }
});

test("P08 a burst is one undo step, another burst or a pause begins the next", () => {
  const h = new History();
  const [a, b, c, d] = ["1", "2", "3", "4"].map((goal) => ({ ...emptyDoc(), plan: { format: 1, goal, steps: [] } })) as unknown as [Doc, Doc, Doc, Doc];
  h.record("type", a, b, 0, "goal");
  h.record("type", b, c, 500, "goal");
  h.record("type", c, d, 5000, "goal");
  assert.equal(h.length, 2);
  assert.equal(h.undo()?.undo(), c);
  assert.equal(h.undo()?.undo(), a);
  const drags = new History();
  drags.record("Move", a, b, 0, "drag:1");
  drags.record("Move", b, c, 60_000, "drag:1");
  drags.record("Move", c, d, 60_001, "drag:2");
  assert.equal(drags.length, 2);
});

test("P08 the history keeps two hundred steps, and an edit after an undo drops what was undone", () => {
  const h = new History();
  for (let i = 0; i < 250; i++) h.record(`${i}`, emptyDoc(), emptyDoc(), i);
  assert.equal(h.length, 200);
  h.undo();
  assert.equal(h.redoes, "249");
  h.record("new", emptyDoc(), emptyDoc(), 300);
  assert.equal(h.redoes, undefined);
});

test("P08 a rename is followed by order, references and condition", () => {
  const { plan, places } = rename(rename(three(), "a", "listing"), "b", "note");
  assert.deepEqual(plan.steps[2]?.depends_on, ["listing", "note"]);
  assert.equal(plan.steps[1]?.param_refs?.path?.step, "listing");
  assert.equal(plan.steps[2]?.guard?.ref.step, "note");
  assert.ok(places.listing && places.note && !places.a);
  for (const bad of ["", "A", "1a", "a b", "note"]) assert.equal(rename(three(), "a", bad).plan.steps[0]?.id, bad === "note" ? "note" : "a");
});

test("P08 deleting a step takes its edges along and nothing else", () => {
  const doc = removeSteps(three(), ["a"]);
  assert.deepEqual(doc.plan.steps, [
    { id: "b", tool: "file.read" },
    { id: "c", tool: "sysinfo", depends_on: ["b"], join: "any_of", guard: { ref: { step: "b", field: "size_bytes" }, op: "gt", value: 0 } },
  ]);
  assert.deepEqual(stepOf(disconnect(three(), "a", "b"), "b"), { id: "b", tool: "file.read" });
});

test("P08 what is pasted is connected among itself and has ids of its own", () => {
  const { doc, ids } = paste(three(), copy(three(), new Set(["a", "b"])));
  assert.deepEqual(ids, ["a_2", "b_2"]);
  assert.equal(stepOf(doc, "b_2")?.param_refs?.path?.step, "a_2");
  const elsewhere = paste(docWith({ id: "x", tool: "sysinfo" }), copy(three(), new Set(["b"])));
  assert.equal(stepOf(elsewhere.doc, "b")?.param_refs, undefined);
  assert.equal(freeID(new Set(["read"]), "Read!"), "read_2");
});

test("P08 a value and a reference of one parameter exclude each other", () => {
  const doc = setParam(three(), "b", "path", "notes.txt");
  assert.deepEqual(stepOf(doc, "b"), { id: "b", tool: "file.read", params: { path: "notes.txt" } });
  assert.deepEqual(stepOf(setRef(doc, "b", "path", { step: "a", field: "x" }), "b"), { id: "b", tool: "file.read", param_refs: { path: { step: "a", field: "x" } } });
  assert.deepEqual(stepOf(setParam(doc, "b", "path", undefined), "b"), { id: "b", tool: "file.read" });
});

test("P08 JSON that is broken says where", () => {
  const cases: [string, number, number, RegExp][] = [
    ["{\n  \"a\": 1,\n  \"a\": 2\n}", 3, 3, /twice/], ["{\"a\": 01}", 1, 8, /expected/], ["[1, 2", 1, 6, /before the end/], ["", 1, 1, /ends too early/],
    ["{\"a\": \"x\n\"}", 1, 9, /does not end/], ["[1] 2", 1, 5, /nothing may follow/], [`${"[".repeat(70)}`, 1, 66, /deeper/],
  ];
  for (const [text, line, column, message] of cases) {
    const read = readJSON(text);
    assert.ok("fault" in read, text);
    assert.deepEqual([read.fault.line, read.fault.column], [line, column], text);
    assert.match(read.fault.message, message);
  }
  const next = random(7);
  const value = (depth: number): unknown => {
    const n = next();
    if (depth > 3 || n < 0.3) return n < 0.1 ? Math.round(next() * 1e6) / 100 : n < 0.2 ? `t"\\\n${n}é` : n < 0.25;
    return n < 0.6 ? [value(depth + 1), value(depth + 1)] : { [`k${n}`]: value(depth + 1), __proto__x: null };
  };
  for (let i = 0; i < 200; i++) {
    const v = value(0);
    assert.deepEqual(readJSON(JSON.stringify(v, null, i % 3)), { value: JSON.parse(JSON.stringify(v)) });
  }
});

test("P08 what cannot be drawn is refused with a reason", () => {
  for (const [value, reason] of [[[], /object/], [{}, /steps/], [{ steps: [{ id: "A", tool: "x" }] }, /step 1.*id/], [{ steps: [{ id: "a", tool: "x" }, { id: "a", tool: "x" }] }, /step 2.*twice/],
    [{ steps: [{ id: "a", tool: "x", depends_on: [1] }] }, /depends_on/], [{ steps: [{ id: "a", tool: "x", param_refs: { p: {} } }] }, /param_refs/]] as [unknown, RegExp][]) {
    assert.match(shapeFault(value), reason);
  }
  assert.equal(shapeFault(three().plan), "");
});

test("P08 tidying is repeatable, keeps cards apart and runs from left to right", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { plan } = scribble(seed, 120).states.at(-1) as Doc;
    const places = tidy(plan);
    assert.deepEqual(places, tidy(plan));
    const all = Object.values(places);
    all.forEach((p, i) => all.forEach((q, j) => assert.ok(i >= j || Math.abs(p[0] - q[0]) >= cardWidth || Math.abs(p[1] - q[1]) >= cardHeight, `seed ${seed}: cards overlap`)));
    for (const e of edgesOf(plan)) assert.ok((places[e.from] as readonly number[])[0] as number < ((places[e.to] as readonly number[])[0] as number), `seed ${seed}: ${e.id} runs back`);
  }
});

test("P08 tidying does not drift: a step stands in the middle of what it comes after, and columns press both ways", () => {
  const fan = docWith({ id: "a", tool: "t" }, ...["b", "c", "d"].map((id) => ({ id, tool: "t", depends_on: ["a"] })), { id: "z", tool: "t", depends_on: ["b", "c", "d"] });
  const at = tidy(fan.plan);
  assert.deepEqual(["a", "c", "z"].map((id) => at[id]?.[1]), [at.a?.[1], at.a?.[1], at.a?.[1]]);
  const steps: Step[] = [];
  for (let layer = 0; layer < 20; layer++) for (let i = 0; i < 3; i++) steps.push({ id: `s${layer}_${i}`, tool: "t", depends_on: layer > 0 ? [`s${layer - 1}_${(i + layer) % 3}`, `s${layer - 1}_1`] : undefined });
  const ys = Object.values(tidy(docWith(...steps).plan)).map((p) => p[1]);
  assert.ok(Math.max(...ys) - Math.min(...ys) <= 6 * 92, `twenty columns of three are ${Math.max(...ys) - Math.min(...ys)} px high`);
});

test("R103 a template opens with the defaults of its slots, and nothing else of it changes", () => {
  const plan = { format: 1, goal: "Mail {to} about {days} of {other}", steps: [
    { id: "a", tool: "t", params: { deep: { list: [1, { $slot: "days" }, { $slot: "to" }], keep: { $slot: "days", more: 1 } }, to: { $slot: "to" } } }] };
  const got = filled(plan, [{ name: "days", default: 30 }, { name: "to" }]);
  assert.equal(got.goal, "Mail {to} about 30 of {other}");
  assert.deepEqual(got.steps[0]?.params, { deep: { list: [1, 30], keep: { $slot: "days", more: 1 } } });
  assert.deepEqual(plan.steps[0]?.params.to, { $slot: "to" }, "the template's own plan stays");
});

test("P08 an edge goes around a card that stands in its row", () => {
  const straight = pathOf([24, 24], [272, 24], []);
  assert.equal(straight.line.includes("Q"), false);
  const around = pathOf([24, 24], [520, 24], [[24, 24], [272, 24], [520, 24]]);
  assert.ok(around.line.includes("Q"), around.line);
});

const tool: Tool = {
  name: "t", family: "t", summary: "", class: "fetch", effect: "read", impact: "observe", impact_of: false, external: false, timeout_s: 1,
  input: { required: ["z"], properties: { a: { type: "integer" }, z: { type: "string" }, e: { enum: ["x", "y"] }, l: { type: "array", items: { type: "string" } }, b: { type: ["boolean", "null"] } } },
  output: { properties: { "a.b": { type: "string" }, rows: { type: "array", items: { type: "object", properties: { email: { type: "string" } } } } } },
};

test("P08 a form follows the schema: required first, one control a type; fields reach into lists", () => {
  assert.deepEqual(paramsOf(tool).map((p) => [p.name, kindOf(p.schema), p.required]),
    [["z", "string", true], ["a", "integer", false], ["e", "enum", false], ["l", "lines", false], ["b", "boolean", false]]);
  assert.deepEqual(fieldsOf(tool.output).map((f) => f.path), ["a\\.b", "rows", "rows.0", "rows.0.email"]);
});

const edits_: Schema = { type: "array", items: { type: "object", required: ["old"], properties: { old: { type: "string" }, new: { type: "string" } } } };

test("P08 lists of texts are lines, lists of objects are rows, and a value that its control can not show is JSON", () => {
  assert.equal(kindOf(edits_), "rows");
  assert.equal(kindOf({ type: "object", properties: { a: { type: "integer" } } }), "object");
  assert.equal(kindOf({ type: "array", items: { type: "array" } }), "json");
  assert.equal(kindOf({ type: "object" }), "json");
  for (const [schema, value, want] of [
    [{ type: "array", items: { type: "string" } }, ["a", "b c"], true],
    [{ type: "array", items: { type: "string" } }, ["a\nb"], false],
    [{ type: "array", items: { type: "string" } }, ["a", 1], false],
    [{ type: "integer" }, "1", false],
    [{ type: "string" }, 5, false],
    [edits_, [{ old: "x" }], true],
    [edits_, ["x"], false],
    [edits_.items as Schema, { old: "x", unknown: 1 }, false],
  ] as [Schema, unknown, boolean][]) assert.equal(fits(schema, value), want, JSON.stringify([schema.type, value]));
});

test("P09 a chosen step proposes the field of the parameter's name and type, and none where two would do", () => {
  const param = { name: "path", schema: { type: "string" }, required: true };
  const item = { type: "object", properties: { path: { type: "string" } } };
  assert.equal(likelyField({ type: "object", properties: { entries: { type: "array", items: item } } }, param), "entries.0.path");
  assert.equal(likelyField({ type: "object", properties: { path: { type: "string" }, entries: { type: "array", items: item } } }, param), "path");
  assert.equal(likelyField({ type: "object", properties: { one: item, other: item } }, param), "");
  assert.equal(likelyField({ type: "object", properties: { path: { type: "integer" } } }, param), "");
  assert.equal(likelyField(null, param), "");
});

test("P08 a number that would be bent is refused where it stands", () => {
  for (const bad of ['{"n": 9007199254740993}', '{"n": -12345678901234567890}', '{"n": 1e999}']) {
    const read = readJSON(bad);
    assert.ok("fault" in read && read.fault.column === 7 && read.fault.message.includes("too large"), bad);
  }
  assert.deepEqual(readJSON("[9007199254740991, 1.5e3, -0]"), { value: [9007199254740991, 1500, -0] });
});

const boot: Boot = { draft: null, gone: "", run: null, template: "", plan: null, intent: "observe", scopes: ["default"], all_scopes: [{ name: "default", tools: [] }, { name: "mail", tools: ["sysinfo"] }], tools: [] };

// storeWith is a store to which the server said some findings about three().
async function storeWith(...findings: Finding[]): Promise<Store> {
  const store = new Store(boot);
  store.doc = three();
  await told(store, findings);
  return store;
}

async function told(store: Store, findings: Finding[]): Promise<void> {
  const report: Report = { ok: false, hash: null, findings, steps: [] };
  globalThis.fetch = () => Promise.resolve(new Response(JSON.stringify(report)));
  store.revision++;
  await store.check();
}

const about = (rule: string, step: string, pointer: string): Finding => ({ rule, step, pointer, severity: "error", message: rule, fix: "" });

test("P38 F8 goes through all findings in turn, and on from where a mended one stood", async () => {
  const [a, b, c] = [about("C10", "a", "/steps/0/params"), about("C01", "", "/goal"), about("C06", "c", "/steps/2/tool")] as const;
  const store = await storeWith(a, b, c);
  const go = (by: 1 | -1): string | undefined => { store.at = store.nextAt(by); return store.findings[store.at]?.rule; };
  assert.deepEqual([go(1), go(1), go(1), go(1), go(-1)], ["C10", "C01", "C06", "C10", "C06"]);
  go(-1);
  await told(store, [a, c]); // C01, where F8 stood, is mended
  assert.equal(store.at, -1);
  assert.equal(go(1), "C06", "what stood after it");
  await told(store, [c]);
  assert.equal(store.findings[store.at]?.rule, "C06", "the mark goes with its finding");
});

test("P08 what is typed and can not be read is a finding of its own field, until it is a value", async () => {
  const store = await storeWith();
  assert.equal(store.errors, 0);
  store.hold("b|param:limit", { text: "x", fault: "This is no number." });
  store.hold("json", { text: "{", fault: "Line 1, column 2" });
  store.hold("gone|param:limit", { text: "x", fault: "of a step that is not there" });
  assert.deepEqual(store.findings.map((f) => [f.rule, f.step, f.pointer]), [["TEXT", "b", "/steps/1/params/limit"], ["JSON", "", ""]]);
  assert.equal(store.marks.get("b")?.errors, 1);
  await told(store, []);
  assert.equal(store.errors, 2, "the server's answer does not take them away");
  store.hold("b|param:limit", undefined);
  store.hold("json", undefined);
  assert.equal(store.errors, 0);
  assert.deepEqual(unreadFindings(three(), new Map([["|max_steps", { text: "x", fault: "y" }]])).map((f) => f.pointer), ["/max_steps"]);
});

test("P08 an empty drawing is no finding", async () => {
  const store = await storeWith();
  store.doc = emptyDoc();
  await told(store, [{ ...about("R13", "", "/steps"), severity: "warning" }]);
  assert.deepEqual(store.findings, []);
});

test("R43 a tool out of scope is mended by the scope that has it", async () => {
  const finding = about("C06", "c", "/steps/2/tool");
  const store = await storeWith(finding);
  assert.deepEqual(store.fixFor(finding)?.scopes, ["default", "mail"]);
  assert.equal(store.fixFor(about("C06", "a", "/steps/0/tool")), undefined, "no scope has file.list");
});

test("P08 a fix removes exactly what its finding is about", () => {
  const doc = three();
  const f = (rule: string, pointer: string, step = "c"): Finding => ({ rule, pointer, step, severity: "warning", message: "", fix: "" });
  assert.deepEqual(stepOf(fixOf(doc, f("R13", "/steps/2/depends_on/0"))?.apply(doc) as Doc, "c")?.depends_on, ["b"]);
  assert.equal(stepOf(fixOf(doc, f("C08", "/steps/2"))?.apply(doc) as Doc, "c")?.approval, true);
  assert.equal(fixOf(doc, f("C01", "/steps/2")), undefined);
  assert.equal(fixOf(doc, f("R13", "/steps/2/depends_on/0", "b")), undefined, "a finding about another plan");
});

test("R47: a step that only an authority clears asks no person", () => {
  const answer = (asks: string[], clear: string[], decision: Answer["decision"] = "ask"): Answer => ({
    step: "a", index: 0, class: "act", effect: "once", decision, impact: 100, impact_name: "operate", rules: [...clear, ...asks], reasons: ["Why."],
    asks: asks.map((rule) => ({ rule })), clear: clear.map((rule) => ({ rule, url: "https://a.example" })),
  });
  const step: Step = { id: "a", tool: "mail.send" };
  const told = (a: Answer | undefined): string[] => {
    const decision = verdictOf(a);
    return [decision, asksWords[decision], noteOf(step, decision), policyWords(a, false)];
  };
  assert.deepEqual(told(undefined), ["", "", "", ""]);
  assert.deepEqual(told(answer([], ["C1"])), ["clear", "asks an authority", "clearance", "Policy asks an authority: rule C1. Policy would ask no person."]);
  assert.deepEqual(told(answer(["A1"], [])), ["ask", "asks a person", "asks", "Policy would ask anyway: rule A1."]);
  assert.deepEqual(told(answer(["A1"], ["C1"])), ["both", "asks an authority and a person", "asks", "Policy asks an authority: rule C1. Policy would ask anyway: rule A1."]);
  assert.deepEqual(told(answer([], [], "allow")), ["allow", "", "", "Policy would not ask."]);
  assert.deepEqual(told(answer([], [], "deny")), ["deny", "", "denied", "Policy would deny it: Why."]);
  assert.equal(policyWords(answer(["plan"], ["C1"]), true), "Policy asks an authority: rule C1. Policy would ask no person.");
  assert.match(nameOf(step, { index: 0, total: 1, errors: 0, warnings: 0, decision: "clear" }), /asks an authority, 1 of 1/);
});
