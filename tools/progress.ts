import { sanitizeLine, truncate, truncateMiddle } from "./terminal.ts";

export interface ProgressLine {
  name: string;
  state: string;
  /** 0–1. */
  fraction: number;
  /** Text that replaces the bar at the end. */
  outcome?: string;
}

const NAME_WIDTH = 30;
const BAR_WIDTH = 24;

/** Lines at the bottom of a terminal that are redrawn. Nothing is drawn if it isn't a terminal. */
export class RedrawnLines {
  readonly #output: NodeJS.WriteStream;
  #drawn = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  erase(): void {
    if (this.#drawn > 0) this.#output.write(`\u001B[${this.#drawn}A\u001B[J`);
    this.#drawn = 0;
  }

  /** Replaces the lines. Those that don't fit on the screen are left out. */
  draw(lines: readonly string[]): void {
    this.erase();
    if (!this.#output.isTTY) return;
    const rowCount = Math.max(1, (this.#output.rows || 24) - 2);
    for (const line of lines.slice(0, rowCount)) {
      this.#output.write(`${truncate(line, (this.#output.columns || 80) - 1)}\n`);
    }
    this.#drawn = Math.min(rowCount, lines.length);
  }
}

/**
 * Prints progress bars for several tasks. On a terminal, unfinished bars stay at the bottom and are
 * redrawn; otherwise each change is a line of its own.
 */
export class ProgressBars {
  readonly #output: NodeJS.WriteStream;
  readonly #moving = new Map<string, string>();
  readonly #lines: RedrawnLines;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
    this.#lines = new RedrawnLines(output);
  }

  update(id: string, line: ProgressLine): void {
    const text = formatProgress(line);
    if (this.#moving.get(id) === text) return;
    if (!this.#output.isTTY) {
      this.#moving.set(id, text);
      this.#output.write(`${text}\n`);
      return;
    }
    this.#lines.erase();
    if (line.outcome === undefined) this.#moving.set(id, text);
    else {
      this.#moving.delete(id);
      this.#output.write(`${text}\n`);
    }
    this.#lines.draw([...this.#moving.values()]);
  }
}

/** Formats a line with a bar, or with the outcome. */
export function formatProgress({ name, state, fraction, outcome }: ProgressLine): string {
  const label = truncateMiddle(sanitizeLine(name), NAME_WIDTH).padEnd(NAME_WIDTH);
  if (outcome !== undefined) return `  ${label}  ${sanitizeLine(outcome)}`;
  const filled = Math.round(fraction * BAR_WIDTH);
  const bar = "█".repeat(filled).padEnd(BAR_WIDTH, "░");
  const percent = String(Math.floor(fraction * 100)).padStart(3);
  return `  ${label}  ${bar} ${percent} %  ${state}`;
}
