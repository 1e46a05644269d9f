/** What was read of stored files lately, up to so many bytes in all; for as long as this isolate lives. */
export class RecentRanges {
  readonly #mostBytes: number;
  readonly #ranges = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The kept range, else what `read` gives; that is kept where it is at most half of all. */
  async get(range: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const bytes = this.#ranges.get(range) ?? (await read());
    this.#drop(range);
    if (bytes.length > this.#mostBytes / 2) return bytes;
    this.#ranges.set(range, bytes); // the latest is last
    this.#bytes += bytes.length;
    for (const oldest of this.#ranges.keys()) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
    return bytes;
  }

  #drop(range: string): void {
    this.#bytes -= this.#ranges.get(range)?.length ?? 0;
    this.#ranges.delete(range);
  }
}
