/**
 * Recently used values by key, for as long as this isolate lives. `capacity` counts values or, with
 * `sizeOf`, their sizes. Values are in two generations (as in the npm package `quick-lru`): once
 * the younger one has half the capacity, it becomes the older one, and what that still had goes. So
 * reading a young value changes nothing. A value of more than half the capacity isn't stored.
 */
export class LruCache<Value> {
  readonly #half: number;
  readonly #sizeOf: (value: Value) => number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngSize = 0;

  constructor(capacity: number, sizeOf: (value: Value) => number = () => 1) {
    this.#half = capacity / 2;
    this.#sizeOf = sizeOf;
  }

  /** Returns the stored value, otherwise computes and stores it. An error isn't stored. */
  async get(key: string, compute: () => Promise<Value>): Promise<Value> {
    return this.#recall(key) ?? this.#store(key, await compute());
  }

  /** The same for a value that is computed synchronously. */
  getNow(key: string, compute: () => Value): Value {
    return this.#recall(key) ?? this.#store(key, compute());
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngSize = 0;
  }

  #recall(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    return old === undefined ? undefined : this.#store(key, old);
  }

  #store(key: string, value: Value): Value {
    const size = this.#sizeOf(value);
    if (size > this.#half || this.#young.has(key)) return value;
    if (this.#youngSize + size > this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#young.set(key, value);
    this.#youngSize += size;
    return value;
  }
}
