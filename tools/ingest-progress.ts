import { estimateWork, type LocalMedia } from "sightline/node";
import { formatProgress, RedrawnLines } from "./progress.ts";
import { formatRemainingTime, RemainingTime } from "./remaining-time.ts";

const REDRAW_MS = 100;
/** Time between lines where there is no terminal. */
const LINE_MS = 10_000;

type MeasuredFile = Pick<LocalMedia, "name" | "kind" | "bytes" | "seconds">;

interface FileProgress {
  name: string;
  weight: number;
  fraction: number;
  state: string;
  isActive: boolean;
}

/** How a file ended. The index had the bytes of a known one before. */
export type FileOutcome = "added" | "known" | "failed";

/**
 * Prints the progress of many files: a line of the total, and below it the files in progress. Where
 * there is no terminal, prints the line of the total every ten seconds.
 */
export class IngestProgress {
  readonly #output: NodeJS.WriteStream;
  readonly #lines: RedrawnLines;
  readonly #files: FileProgress[];
  readonly #remaining = new RemainingTime();
  #doneCount = 0;
  #failedCount = 0;
  #printedAt = 0;

  constructor(output: NodeJS.WriteStream, files: readonly MeasuredFile[]) {
    this.#output = output;
    this.#lines = new RedrawnLines(output);
    this.#files = files.map((file) => {
      const { name } = file;
      return { name, weight: estimateWork(file), fraction: 0, state: "", isActive: false };
    });
  }

  /** Records the progress of a file, 0–1. */
  update(position: number, fraction: number, state: string): void {
    Object.assign(this.#files[position]!, { fraction, state, isActive: true });
    this.#print();
  }

  /** Records the end of a file. What is left of a known or failed file is no work. */
  finish(position: number, outcome: FileOutcome): void {
    const file = this.#files[position]!;
    if (outcome !== "added") file.weight *= file.fraction;
    Object.assign(file, { fraction: 1, isActive: false });
    if (outcome === "failed") this.#failedCount += 1;
    else this.#doneCount += 1;
    this.#print();
  }

  /** Removes what is redrawn. */
  clear(): void {
    this.#lines.erase();
  }

  #print(): void {
    const now = Date.now();
    if (now - this.#printedAt < (this.#output.isTTY ? REDRAW_MS : LINE_MS)) return;
    this.#printedAt = now;
    const total = this.#files.reduce((sum, { weight }) => sum + weight, 0);
    const done = this.#files.reduce((sum, { weight, fraction }) => sum + weight * fraction, 0);
    this.#remaining.record(now, { done, left: total - done });
    const line = formatTotal({
      done: this.#doneCount,
      failed: this.#failedCount,
      total: this.#files.length,
      secondsLeft: this.#remaining.seconds(),
    });
    if (!this.#output.isTTY) this.#output.write(`${line}\n`);
    const active = this.#files.filter(({ isActive }) => isActive);
    this.#lines.draw([line, ...active.map(formatProgress)]);
  }
}

export interface IngestTotal {
  done: number;
  failed: number;
  total: number;
  /** Null while it is unknown. */
  secondsLeft: number | null;
}

/** Formats the line of the total: "12 of 200 files done, 1 failed, about 4 min left". */
export function formatTotal({ done, failed, total, secondsLeft }: IngestTotal): string {
  const parts = [`${done} of ${total} ${total === 1 ? "file" : "files"} done`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (secondsLeft !== null) parts.push(formatRemainingTime(secondsLeft));
  return parts.join(", ");
}
