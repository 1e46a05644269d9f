/** Measures the parts of a request. Parts may overlap; repeated parts are summed. */
export class Timings {
  readonly #start = Date.now();
  readonly #parts = new Map<string, number>();

  /** Runs `work` and adds its time to `part`, even if it throws. */
  readonly time = async <T>(part: string, work: () => Promise<T>): Promise<T> => {
    const start = Date.now();
    try {
      return await work();
    } finally {
      this.#parts.set(part, (this.#parts.get(part) ?? 0) + Date.now() - start);
    }
  };

  /** Formats a `Server-Timing` header (W3C): milliseconds per part, and the `total`. */
  toHeader(): string {
    const parts = [...this.#parts, ["total", Date.now() - this.#start] as const];
    return parts.map(([part, ms]) => `${part};dur=${ms}`).join(", ");
  }
}
