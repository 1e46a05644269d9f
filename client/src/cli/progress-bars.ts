import { fitToWidth, truncateToWidth } from "./display-width.ts";
import { formatDuration } from "./quantity-format.ts";
import { sanitizeLine } from "./sanitize.ts";

const NAME_WIDTH = 32;
const BAR_WIDTH = 20;
const REDRAW_MS = 80;

interface Task {
  name: string;
  /** Share of the total that this task is. */
  weight: number;
  /** 0–1. */
  fraction: number;
  state: string;
  isShown: boolean;
}

/**
 * Progress of several tasks, and of all of them. A terminal shows a bar for each task in progress
 * and redraws it; elsewhere only finished tasks are printed, a line each.
 */
export class ProgressBars {
  readonly #stream: NodeJS.WriteStream;
  readonly #isQuiet: boolean;
  readonly #tasks = new Map<string, Task>();
  readonly #startedAt = Date.now();
  #drawnLines = 0;
  #drawnAt = 0;

  constructor(stream: NodeJS.WriteStream, isQuiet: boolean) {
    this.#stream = stream;
    this.#isQuiet = isQuiet;
  }

  /** Adds a task that hasn't started. */
  add(id: string, name: string, weight: number): void {
    this.#tasks.set(id, { name, weight, fraction: 0, state: "", isShown: false });
  }

  update(id: string, fraction: number, state: string): void {
    const task = this.#tasks.get(id)!;
    Object.assign(task, { fraction, state, isShown: true });
    if (this.#stream.isTTY && Date.now() - this.#drawnAt >= REDRAW_MS) this.#redraw();
  }

  /** Ends a task and prints its outcome. */
  finish(id: string, outcome: string): void {
    const task = this.#tasks.get(id)!;
    Object.assign(task, { fraction: 1, isShown: false });
    if (this.#isQuiet) return;
    const name = fitToWidth(sanitizeLine(task.name), NAME_WIDTH);
    this.#erase();
    this.#stream.write(`${name}  ${sanitizeLine(outcome)}\n`);
    if (this.#stream.isTTY) this.#redraw();
  }

  /** Removes the bars. */
  clear(): void {
    this.#erase();
  }

  #redraw(): void {
    if (this.#isQuiet) return;
    this.#erase();
    this.#drawnAt = Date.now();
    const shown = [...this.#tasks.values()].filter(({ isShown }) => isShown);
    if (shown.length === 0) return;
    const lines = shown.slice(0, Math.max(1, this.#stream.rows - 3)).map(formatTask);
    lines.push(formatTotal([...this.#tasks.values()], (Date.now() - this.#startedAt) / 1000));
    const columns = this.#stream.columns - 1;
    for (const line of lines) this.#stream.write(`${truncateToWidth(line, columns)}\n`);
    this.#drawnLines = lines.length;
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.#stream.write(`\u001B[${this.#drawnLines}A\u001B[J`);
    this.#drawnLines = 0;
  }
}

function formatTask({ name, fraction, state }: Task): string {
  return `${fitToWidth(sanitizeLine(name), NAME_WIDTH)}  ${formatBar(fraction)}  ${state}`;
}

/** Formats the line of the total, with the time left once a twentieth is done. */
export function formatTotal(
  tasks: Pick<Task, "weight" | "fraction">[],
  elapsedSeconds: number,
): string {
  const total = tasks.reduce((sum, { weight }) => sum + weight, 0);
  const done = tasks.reduce((sum, { weight, fraction }) => sum + weight * fraction, 0);
  const fraction = total > 0 ? done / total : 1;
  const finished = tasks.filter((task) => task.fraction === 1).length;
  const label = `Total: ${finished} of ${tasks.length}`;
  const left = fraction >= 0.05 ? (elapsedSeconds * (1 - fraction)) / fraction : null;
  const estimate = left === null ? "" : `  about ${formatDuration(left)} left`;
  return `${fitToWidth(label, NAME_WIDTH)}  ${formatBar(fraction)}${estimate}`;
}

function formatBar(fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const bar = "█".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, "░");
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %`;
}
