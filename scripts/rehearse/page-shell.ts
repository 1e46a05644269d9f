import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Time after which a command of a page has hung. */
const WATCHDOG_MS = 10 * 60_000;
const MAX_LINES = 40;

/** A shell that runs the blocks of a page one after another. Later ones have what one exports. */
export class PageShell {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #state: string;
  readonly #signal: AbortSignal;

  constructor(folder: string, env: NodeJS.ProcessEnv, signal: AbortSignal) {
    this.#folder = folder;
    this.#env = env;
    this.#signal = signal;
    this.#state = join(folder, ".shell");
    writeFileSync(this.#state, "");
  }

  /** Runs commands and returns the lines that they print. Throws with the last if one fails. */
  async run(code: string): Promise<string[]> {
    const script = `. ${this.#state}\n${code}\nexport -p > ${this.#state}\n`;
    const child = spawn("bash", ["-euc", script], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(WATCHDOG_MS)]),
    });
    const ended = once(child, "close") as Promise<[code: number | null]>;
    const lines: string[] = [];
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on("line", (line) => lines.push(line));
    }
    const [status] = await ended;
    if (status === 0) return lines;
    throw new Error([`exit code ${status}`, ...lines.slice(-MAX_LINES)].join("\n"));
  }

  /** Returns a variable that a block exported. */
  async read(name: string): Promise<string> {
    return (await this.run(`printf '%s\\n' "\${${name}}"`)).join("\n");
  }
}
