/** The rate is measured over this time. */
const WINDOW_MS = 60_000;
/** Shorter measurements give no estimate. */
const MIN_WINDOW_MS = 5000;

/** Estimates the time that work still takes from its rate over the last minute. */
export class RemainingTime {
  readonly #samples: { at: number; done: number }[] = [];
  #left = 0;

  /** Records how much is done and how much is left, in the same unit, at a time in ms. */
  record(at: number, { done, left }: { done: number; left: number }): void {
    this.#left = left;
    // The time before the first progress isn't work: known files are recognised then.
    if (this.#samples.length === 1 && this.#samples[0]!.done === done) this.#samples.pop();
    this.#samples.push({ at, done });
    // Leaves one sample that is at least a minute old.
    while (this.#samples.length > 2 && this.#samples[1]!.at <= at - WINDOW_MS) {
      this.#samples.shift();
    }
  }

  /** Returns the seconds left; null while the rate is unknown. */
  seconds(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last) return null;
    const elapsedMs = last.at - first.at;
    const done = last.done - first.done;
    if (elapsedMs < MIN_WINDOW_MS || done <= 0) return null;
    return ((this.#left / done) * elapsedMs) / 1000;
  }
}

/** Formats the time left: "about 4 min left". */
export function formatRemainingTime(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute left";
  if (minutes < 60) return `about ${minutes} min left`;
  return `about ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
