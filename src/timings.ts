/** How long the parts of a request take. Parts may overlap, and one that comes again is added up. */
export class Timings {
  readonly #start = Date.now();
  readonly #parts = new Map<string, number>();

  /** Does the work, whatever comes of it, and counts its time as that of `part`. */
  readonly time = async <T>(part: string, work: () => Promise<T>): Promise<T> => {
    const start = Date.now();
    try {
      return await work();
    } finally {
      this.#parts.set(part, (this.#parts.get(part) ?? 0) + Date.now() - start);
    }
  };

  /** In ms, as the `Server-Timing` header has it (W3C Server Timing), with the whole as `total`. */
  toHeader(): string {
    const parts = [...this.#parts, ["total", Date.now() - this.#start] as const];
    return parts.map(([part, ms]) => `${part};dur=${ms}`).join(", ");
  }
}
