import type { Environment } from "./config.ts";
import { formatJson, sanitizeText } from "./sanitize.ts";
import { type Column, formatTable } from "./table.ts";

/** Text with escape sequences of ours. Other text loses its control characters when printed. */
class Styled {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Where a command writes: results on stdout, progress and notes on stderr. */
export class Output {
  readonly isJson: boolean;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Whether stdout takes colours. */
  readonly hasColour: boolean;
  /** Whether stdout takes hyperlinks. */
  readonly hasHyperlinks: boolean;
  /** Whether results and errors only are printed. */
  readonly isQuiet: boolean;

  constructor(
    streams: Pick<NodeJS.Process, "stdout" | "stderr">,
    env: Environment,
    { isJson, isQuiet }: { isJson: boolean; isQuiet: boolean },
  ) {
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    this.isJson = isJson;
    this.isQuiet = isQuiet;
    this.hasColour = takesColour(streams.stdout.isTTY, env);
    this.hasHyperlinks = takesHyperlinks(streams.stdout.isTTY, env);
  }

  /** Number of columns of a table. */
  get width(): number {
    return this.stdout.isTTY ? this.stdout.columns : 100;
  }

  /** Prints a line of the result for people. */
  line(...parts: (string | Styled)[]): void {
    const texts = parts.map((part) => (part instanceof Styled ? part.text : sanitizeText(part)));
    if (!this.isJson) this.stdout.write(`${texts.join("")}\n`);
  }

  /** Prints a table for people, with its header in bold. */
  table(columns: Column[], rows: string[][]): void {
    const [header = "", ...lines] = formatTable(columns, rows, this.width);
    this.line(this.bold(header));
    for (const line of lines) this.line(new Styled(line)); // its cells are sanitized
  }

  /** Prints rows as a table does, without a header: a part of a list that doesn't end. */
  rows(columns: Omit<Column, "title">[], rows: string[][]): void {
    const untitled = columns.map((column) => ({ ...column, title: "" }));
    const [, ...lines] = formatTable(untitled, rows, this.width);
    for (const line of lines) this.line(new Styled(line));
  }

  /** Prints text for people, without a line break. */
  text(text: string): void {
    if (!this.isJson) this.stdout.write(sanitizeText(text));
  }

  /** Prints the result as a JSON document on a line of its own. */
  json(value: unknown): void {
    if (this.isJson) this.stdout.write(`${formatJson(value)}\n`);
  }

  /** Prints a note on stderr. */
  note(text: string): void {
    if (!this.isQuiet) this.stderr.write(`${sanitizeText(text)}\n`);
  }

  bold(text: string): Styled {
    return this.#style(text, 1, 22);
  }

  dim(text: string): Styled {
    return this.#style(text, 2, 22);
  }

  /** Makes text a link if stdout takes hyperlinks. */
  link(text: string, url: string): Styled {
    return new Styled(this.hasHyperlinks ? hyperlink(sanitizeText(text), url) : "");
  }

  #style(text: string, on: number, off: number): Styled {
    const plain = sanitizeText(text);
    return new Styled(this.hasColour ? `\u001B[${on}m${plain}\u001B[${off}m` : plain);
  }
}

/** Returns whether a stream takes colours: a terminal, without NO_COLOR. */
export function takesColour(isTerminal: boolean, env: Environment): boolean {
  return isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

const HYPERLINK_PROGRAMS = new Set([
  "iTerm.app",
  "WezTerm",
  "vscode",
  "ghostty",
  "Hyper",
  "Tabby",
  "rio",
]);

/** Returns whether a stream takes OSC 8 hyperlinks. FORCE_HYPERLINK overrides the guess. */
export function takesHyperlinks(isTerminal: boolean, env: Environment): boolean {
  const forced = env["FORCE_HYPERLINK"];
  if (forced !== undefined && forced !== "") return forced !== "0";
  if (!isTerminal || env["TERM"] === "dumb") return false;
  if (HYPERLINK_PROGRAMS.has(env["TERM_PROGRAM"] ?? "")) return true;
  if (/^(xterm-kitty|alacritty|foot|contour)/.test(env["TERM"] ?? "")) return true;
  return (
    Number(env["VTE_VERSION"] ?? 0) >= 5000 ||
    ["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID"].some((name) => Boolean(env[name]))
  );
}

/** Makes text a hyperlink for terminals (OSC 8). Other URLs than http ones are left out. */
export function hyperlink(text: string, url: string): string {
  if (!isWebUrl(url)) return text;
  return `\u001B]8;;${new URL(url).href}\u001B\\${text}\u001B]8;;\u001B\\`;
}

/** Returns whether text is an http or https URL. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
