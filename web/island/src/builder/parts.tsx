// Small parts that every view of the builder uses.
import { useEffect, useId, useRef, useState, type ReactNode } from "react";

export function Icon({ name, size = 16 }: { name: string; size?: 12 | 14 | 16 }) {
  return <svg className={size === 16 ? "i" : `i i-${size}`} viewBox="0 0 16 16" aria-hidden="true"><use href={`#i-${name}`} /></svg>;
}

const tools: Record<string, string> = {
  sysinfo: "cpu", disk_usage: "drive", net_info: "net", process_list: "list", env_list: "key", shell: "terminal", compute: "func",
  "file.list": "list", "file.delete": "trash", "file.write": "pencil", "file.patch": "pencil", "file.search": "search",
};
const families: Record<string, string> = { git: "git", file: "file", web: "globe", http: "globe", mail: "mail" };

export const toolIcon = (tool: string): string => tools[tool] ?? families[tool.split(".")[0] ?? ""] ?? "terminal";

export interface Option { value: string; label: string; hint?: string; icon?: string; group?: string }

interface PickerProps {
  id: string; label: string; options: Option[]; placeholder: string; open?: boolean; hotkey?: string;
  onPick(value: string): void; onEscape?(): void; drag?: string;
}

// Picker is a text box over a list: type to filter, arrows to choose, Enter to take.
export function Picker({ id, label, options, placeholder, hotkey, onPick, onEscape, drag }: PickerProps) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const own = useId();
  const wanted = words.trim().toLowerCase();
  const shown = options.filter((o) => wanted === "" || `${o.value} ${o.label} ${o.hint ?? ""}`.toLowerCase().includes(wanted));
  shown.sort((a, b) => rank(a, wanted) - rank(b, wanted));
  const grouped = wanted === "" ? [...new Set(shown.map((o) => o.group ?? ""))] : [""];
  const ordered = wanted === "" ? grouped.flatMap((g) => shown.filter((o) => (o.group ?? "") === g)) : shown;
  const active = ordered[Math.min(at, ordered.length - 1)];
  useEffect(() => { list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }); }, [at, words]);
  const pick = (option: Option | undefined): void => { if (option) { setWords(""); setAt(0); onPick(option.value); } };
  const key = (event: React.KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (ordered.length > 0) setAt((Math.min(at, ordered.length - 1) + (event.key === "ArrowDown" ? 1 : -1) + ordered.length) % ordered.length);
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) { event.preventDefault(); pick(active); }
    else if (event.key === "Escape" && onEscape) { event.preventDefault(); event.stopPropagation(); setWords(""); onEscape(); }
  };
  const optionID = (value: string): string => `${own}-${value}`;
  return (
    <div className="picker">
      <div className="search">
        <Icon name="search" size={14} />
        <input
          className="input" id={id} type="text" role="combobox" aria-label={label} aria-expanded="true" aria-controls={`${own}-list`} aria-autocomplete="list" autoComplete="off"
          aria-activedescendant={active ? optionID(active.value) : undefined} placeholder={placeholder} value={words}
          onChange={(e) => { setWords(e.target.value); setAt(0); }} onKeyDown={key}
        />
        {hotkey !== undefined && <kbd aria-hidden="true">{hotkey}</kbd>}
      </div>
      <div className="picker-list" role="listbox" id={`${own}-list`} aria-label={label} ref={list} tabIndex={-1}>
        {grouped.map((g) => (
          <div key={g} role="group" aria-label={g === "" ? label : g}>
            {g !== "" && <div className="picker-group" aria-hidden="true">{g}</div>}
            {ordered.filter((o) => wanted !== "" || (o.group ?? "") === g).map((o) => (
              <div
                key={o.value} id={optionID(o.value)} role="option" className="picker-option" aria-selected={o === active} title={o.hint}
                draggable={drag !== undefined} onDragStart={(e) => { if (drag) e.dataTransfer.setData(drag, o.value); }} onClick={() => pick(o)}
              >
                {o.icon && <Icon name={o.icon} />}<span className="cut grow">{o.label}</span>{drag !== undefined && <Icon name="plus" size={14} />}
              </div>
            ))}
          </div>
        ))}
      </div>
      {ordered.length === 0 && <p className="picker-none t3">Nothing fits “{words}”.</p>}
    </div>
  );
}

const rank = (o: Option, wanted: string): number => (wanted === "" ? 0 : o.value === wanted ? 0 : o.value.startsWith(wanted) ? 1 : o.value.includes(wanted) ? 2 : 3);

export function Problem({ children, id }: { children: ReactNode; id?: string }) {
  return <p className="error-text" id={id}><Icon name="cross" size={12} /><span>{children}</span></p>;
}

// Modal is a dialog that is open as long as it is drawn.
export function Modal({ title, onClose, children }: { title: string; onClose(): void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog className="sheet" ref={ref} aria-labelledby={id} onClose={onClose} onCancel={(e) => { e.preventDefault(); onClose(); }}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
