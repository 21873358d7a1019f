// What asks before it acts: connect, run, import, delete.
import { useEffect, useId, useRef, useState } from "react";
import type { Actions } from "./actions";
import { verdictOf } from "./asked";
import { stepOf } from "./core";
import { Icon, Modal, Picker, Problem } from "./parts";
import { outputOf } from "./param";
import { fieldsOf, paramsOf } from "./schema";
import type { Store } from "./store";
import type { Problem as Refusal } from "./wire";

interface Props { store: Store; actions: Actions }

export function Dialogs({ store, actions }: Props) {
  switch (store.dialog) {
    case "connect": return store.only === undefined ? null : <Connect store={store} actions={actions} from={store.only} />;
    case "run": return <Run store={store} actions={actions} />;
    case "import": return <Import store={store} actions={actions} />;
    case "discard": return <Discard store={store} actions={actions} />;
  }
  return null;
}

// back closes a dialog and gives the keyboard back to the step.
function back(store: Store, actions: Actions, id?: string): void {
  store.set({ dialog: "" });
  if (id !== undefined) actions.select(id);
}

function Connect({ store, actions, from }: Props & { from: string }) {
  const [to, setTo] = useState("");
  const [kind, setKind] = useState<"order" | "data">("order");
  const [param, setParam] = useState("");
  const [field, setField] = useState("");
  const id = useId();
  const order = useRef<HTMLInputElement>(null);
  const targets = store.connectable(from).map((value) => ({ value, label: value, hint: stepOf(store.doc, value)?.tool }));
  const params = paramsOf(store.tools.get(stepOf(store.doc, to)?.tool ?? ""));
  const fields = fieldsOf(outputOf(store, from));
  useEffect(() => { if (to !== "") order.current?.focus(); else document.getElementById("connect-search")?.focus(); }, [to]);
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    if (to === "" || (kind === "data" && param === "")) return;
    if (kind === "order") actions.connect(from, to);
    else actions.reference(to, param, { step: from, field });
    back(store, actions, from);
  };
  return (
    <Modal title={`Connect ${from} to…`} onClose={() => back(store, actions, from)}>
      {to === ""
        ? <Picker id="connect-search" label="Step that comes after" placeholder="Type to find a step" options={targets} onPick={setTo} onEscape={() => back(store, actions, from)} />
        : (
          <form className="stack" onSubmit={submit}>
            <p><code>{from}</code> → <code>{to}</code> <button type="button" className="link" onClick={() => setTo("")}>Choose another</button></p>
            <fieldset role="radiogroup" aria-label="Kind of connection" className="segments">
              <label className="segment"><input type="radio" name="kind" ref={order} checked={kind === "order"} onChange={() => setKind("order")} />Order only</label>
              <label className="segment"><input type="radio" name="kind" checked={kind === "data"} onChange={() => { setKind("data"); setParam(params.find((p) => p.required)?.name ?? params[0]?.name ?? ""); }} disabled={params.length === 0} />Data</label>
            </fieldset>
            {kind === "data" && (
              <>
                <div className="field"><label htmlFor={`${id}-field`}>Field of {from}</label>
                  <input className="input mono" id={`${id}-field`} list={`${id}-fields`} value={field} placeholder="whole output" autoComplete="off" spellCheck={false} onChange={(e) => setField(e.target.value)} />
                  <datalist id={`${id}-fields`}>{fields.map((f) => <option key={f.path} value={f.path}>{f.type}</option>)}</datalist></div>
                <div className="field"><label htmlFor={`${id}-param`}>Parameter of {to}</label>
                  <select className="input" id={`${id}-param`} value={param} onChange={(e) => setParam(e.target.value)}>{params.map((p) => <option key={p.name} value={p.name}>{p.name}</option>)}</select></div>
              </>
            )}
            <div className="row dialog-foot"><button type="button" className="button" onClick={() => back(store, actions, from)}>Cancel</button><button className="button" data-kind="primary">Connect</button></div>
          </form>
        )}
      {targets.length === 0 && <p className="t2">No step can come after {from}: each other one comes before it.</p>}
    </Modal>
  );
}

const intents: [string, string, string][] = [
  ["observe", "Observe", "Only reads. Nothing on this machine is changed."],
  ["operate", "Operate", "May also write files in the workspace."],
  ["override", "Override", "May delete and send. Each such call still stops and asks a person."],
];

// summary names a plan by its steps, for whoever has no better words.
function summary(store: Store): string {
  const { steps } = store.doc.plan;
  const named = steps.slice(0, 4).map((s) => s.id.replaceAll("_", " "));
  const last = steps.length > 4 ? `${steps.length - 4} more` : named.length > 1 ? named.pop() ?? "" : "";
  return last === "" ? named.join("") : `${named.join(", ")} and ${last}`;
}

function Run({ store, actions }: Props) {
  const [refusal, setRefusal] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const asksGoal = useRef(store.doc.plan.goal.trim() === "").current;
  const [goal, setGoal] = useState(() => store.doc.plan.goal.trim() || store.name.trim() || summary(store));
  const id = useId();
  const blocked = store.errors > 0 || store.doc.plan.steps.length === 0;
  const asked = [...store.answers.values()].map(verdictOf);
  const asks = asked.filter((v) => v === "ask" || v === "both").length;
  const clears = asked.filter((v) => v === "clear" || v === "both").length;
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    if (blocked || busy || goal.trim() === "") return;
    setBusy(true);
    void actions.run(asksGoal ? goal.trim() : store.doc.plan.goal).then((problem) => { setRefusal(problem); if (problem) setBusy(false); });
  };
  return (
    <Modal title="Run this plan" onClose={() => store.set({ dialog: "" })}>
      <form className="stack" onSubmit={submit} onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) submit(e); }}>
        {asksGoal && (
          <div className="field">
            <label htmlFor={`${id}-goal`}>Goal: what is this run for?</label>
            <input className="input" id={`${id}-goal`} name="goal" value={goal} autoFocus autoComplete="off" maxLength={2000} required onFocus={(e) => e.target.select()} onChange={(e) => setGoal(e.target.value)} />
            <p className="meta">The run, its verdict and the log are called by it.</p>
          </div>
        )}
        <fieldset role="radiogroup" aria-label="Intent">
          <div className="label" aria-hidden="true">Intent: the most this run may do</div>
          <div className="segments">
            {intents.map(([value, word]) => <label key={value} className="segment"><input type="radio" name="intent" value={value} checked={store.intent === value} autoFocus={!asksGoal && store.intent === value} onChange={() => store.limit({ intent: value })} />{word}</label>)}
          </div>
        </fieldset>
        <p className="t2">{intents.find(([value]) => value === store.intent)?.[2]}</p>
        {store.scopes.join() !== "default" && <p className="t2">In the {store.scopes.length === 1 ? "scope" : "scopes"} {store.scopes.join(", ")}.</p>}
        {asks > 0 && <p className="t2"><Icon name="hand" size={14} /> {asks} {asks === 1 ? "step asks" : "steps ask"} a person first.</p>}
        {clears > 0 && <p className="t2"><Icon name="clock" size={14} /> {clears} {clears === 1 ? "step asks" : "steps ask"} an authority first.</p>}
        {store.doc.plan.steps.length === 0 && <Problem>There is nothing to run: add a step.</Problem>}
        {store.errors > 0 && <Problem>{store.errors} {store.errors === 1 ? "error has" : "errors have"} to be mended first: {store.findings.find((f) => f.severity === "error")?.message} <button type="button" className="link" onClick={() => { store.set({ dialog: "" }); actions.finding(store.findings.findIndex((f) => f.severity === "error")); }}>Show it</button></Problem>}
        {refusal && <Problem>{refusal.detail} {refusal.fix}</Problem>}
        <div className="row dialog-foot"><button type="button" className="button" onClick={() => store.set({ dialog: "" })}>Cancel</button><button className="button" data-kind="primary" disabled={blocked || busy}>Run now</button></div>
      </form>
    </Modal>
  );
}

const fileMax = 4 << 20;

function Import({ store, actions }: Props) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const id = useId();
  const take = async (from: string): Promise<void> => {
    const problem = await actions.importText(from);
    setFault(problem);
    if (problem === "") store.set({ dialog: "" });
  };
  const file = async (event: React.ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = event.target.files?.[0];
    if (!chosen) return;
    if (chosen.size > fileMax) { setFault("The file is larger than 4 MiB."); return; }
    const read = await chosen.text();
    setText(read);
    await take(read);
  };
  return (
    <Modal title="Import a plan" onClose={() => store.set({ dialog: "" })}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void take(text); }}>
        <p className="t2">A plan as JSON or YAML (form 1, steps that name each other by place, or nodes and edges), at most 4 MiB, takes the place of what is drawn. Undo brings that back.</p>
        <div className="field"><label htmlFor={`${id}-file`}>File</label><input className="input" id={`${id}-file`} type="file" accept=".json,.yaml,.yml,application/json" onChange={(e) => void file(e)} /></div>
        <div className="field"><label htmlFor={`${id}-text`}>Or text</label><textarea className="input mono" id={`${id}-text`} rows={10} spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} autoFocus /></div>
        {fault !== "" && <Problem>{fault}</Problem>}
        <div className="row dialog-foot"><button type="button" className="button" onClick={() => store.set({ dialog: "" })}>Cancel</button><button className="button" data-kind="primary" disabled={text.trim() === ""}>Import</button></div>
      </form>
    </Modal>
  );
}

function Discard({ store, actions }: Props) {
  const remove = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    if (await actions.saver.remove()) location.assign("/builder");
    else store.set({ dialog: "" });
  };
  return (
    <Modal title="Delete this draft?" onClose={() => store.set({ dialog: "" })}>
      <form className="stack" onSubmit={(e) => void remove(e)}>
        <p className="t2">The draft “{store.title}” is gone for good. Runs that were made from it stay.</p>
        <div className="row dialog-foot"><button type="button" className="button" onClick={() => store.set({ dialog: "" })}>Keep</button><button className="button" data-kind="danger">Delete draft</button></div>
      </form>
    </Modal>
  );
}
