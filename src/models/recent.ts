/** The latest `limit` values by key, for as long as this isolate lives. */
export class Recent<Value> {
  readonly #limit: number;
  readonly #values = new Map<string, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The kept value, else what `make` gives; a failure isn't kept. */
  async get(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = this.#values.get(key) ?? (await make());
    this.#values.delete(key);
    this.#values.set(key, value); // the latest is last
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#limit && oldest !== undefined) this.#values.delete(oldest);
    return value;
  }
}
