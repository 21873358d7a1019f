// JSON with the place of what is wrong: line and column, and keys that stand twice.

export interface Fault { line: number; column: number; message: string }
export type Read = { value: unknown } | { fault: Fault };

const depthMax = 64;

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  read(): Read {
    try {
      const value = this.value(0);
      this.space();
      if (this.at < this.text.length) throw this.wrong("nothing may follow the value");
      return { value };
    } catch (error) {
      if (error instanceof SyntaxError) return { fault: this.place(error.message) };
      throw error;
    }
  }

  private place(message: string): Fault {
    const before = this.text.slice(0, this.at).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
  }

  private wrong(message: string): SyntaxError { return new SyntaxError(message); }

  private space(): void { while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at++; }

  private value(depth: number): unknown {
    this.space();
    if (depth > depthMax) throw this.wrong(`values nest deeper than ${depthMax}`);
    const c = this.text[this.at];
    if (c === "{") return this.object(depth);
    if (c === "[") return this.array(depth);
    if (c === '"') return this.string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]] as const) {
      if (this.text.startsWith(word, this.at)) { this.at += word.length; return value; }
    }
    const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/.exec(this.text.slice(this.at, this.at + 400));
    if (!number) throw this.wrong(c === undefined ? "the text ends too early" : `“${c}” does not begin a value`);
    const n = Number(number[0]);
    if (!Number.isFinite(n) || (!/[.eE]/.test(number[0]) && !Number.isSafeInteger(n))) throw this.wrong("the number is too large to be kept exactly (±2^53)");
    this.at += number[0].length;
    return n;
  }

  private string(): string {
    const start = this.at++;
    for (;;) {
      const c = this.text[this.at];
      if (c === undefined || c === "\n") throw this.wrong("the text in quotes does not end");
      this.at++;
      if (c === "\\") this.at++;
      if (c === '"') break;
    }
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      this.at = start;
      throw this.wrong("the text in quotes has a bad character or escape");
    }
  }

  private expect(...wanted: string[]): string {
    this.space();
    const c = this.text[this.at];
    if (c === undefined || !wanted.includes(c)) throw this.wrong(`expected ${wanted.map((w) => `“${w}”`).join(" or ")}${c === undefined ? " before the end" : `, found “${c}”`}`);
    this.at++;
    return c;
  }

  private object(depth: number): unknown {
    const out: Record<string, unknown> = {};
    this.at++;
    this.space();
    if (this.text[this.at] === "}") { this.at++; return out; }
    do {
      this.space();
      if (this.text[this.at] !== '"') throw this.wrong("expected a key in quotes");
      const start = this.at;
      const key = this.string();
      if (Object.hasOwn(out, key)) { this.at = start; throw this.wrong(`the key “${key}” stands twice`); }
      this.expect(":");
      Object.defineProperty(out, key, { value: this.value(depth + 1), enumerable: true, writable: true, configurable: true });
    } while (this.expect(",", "}") === ",");
    return out;
  }

  private array(depth: number): unknown {
    const out: unknown[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") { this.at++; return out; }
    do out.push(this.value(depth + 1)); while (this.expect(",", "]") === ",");
    return out;
  }
}

export const readJSON = (text: string): Read => new Reader(text).read();
