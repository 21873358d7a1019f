// Small comforts over plain forms: Ctrl+Enter, theme without a reload, run
// actions that leave the graph where it is, menus that close.
import { invalidate } from "./refresh";
import { announce, toast } from "./notice";

const yearSeconds = 31_536_000;

function setTheme(form: HTMLFormElement, theme: string): void {
  document.cookie = `theme=${theme}; path=/; max-age=${yearSeconds}; samesite=lax`;
  if (theme === "") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  form.querySelectorAll<HTMLButtonElement>("button").forEach((b) => b.setAttribute("aria-pressed", String(b.value === theme)));
}

async function quietPost(form: HTMLFormElement): Promise<void> {
  form.closest("details")?.removeAttribute("open");
  try {
    const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
    const response = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (response.type !== "opaqueredirect" && !response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      toast(page.querySelector("h1")?.textContent ?? "Refused", page.querySelector("h1 ~ p")?.textContent ?? "");
    }
  } catch {
    toast("Not sent", "The connection is lost. Nothing was changed.");
  }
  invalidate(`run:${document.body.dataset.run ?? ""}`);
}

// copy puts a line on the clipboard and says so on its button; where the browser
// has no clipboard for this page, the text is selected instead.
async function copy(button: HTMLButtonElement): Promise<void> {
  const word = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = "Copied";
    announce("Copied");
  } catch {
    const text = button.previousElementSibling;
    if (text) getSelection()?.selectAllChildren(text);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = word; }, 2000);
}

export function startForms(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-copy]");
    if (button) void copy(button);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if ("themeForm" in form.dataset) {
      event.preventDefault();
      setTheme(form, (event.submitter as HTMLButtonElement | null)?.value ?? "");
    } else if ("quietPost" in form.dataset) {
      event.preventDefault();
      void quietPost(form);
    }
  });
  document.addEventListener("keydown", (event) => {
    const form = (event.target as HTMLElement).closest<HTMLFormElement>("form[data-submit-keys]");
    if (!form || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    const inside = (event.target as Element).closest("details[data-menu]");
    document.querySelectorAll("details[data-menu][open]").forEach((menu) => { if (menu !== inside) menu.removeAttribute("open"); });
  });
}
