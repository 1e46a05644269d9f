/**
 * Least recently used values by key, for as long as this isolate lives. `capacity` counts values
 * or, with `sizeOf`, their sizes. A value of more than half the capacity isn't stored.
 */
export class LruCache<Value> {
  readonly #capacity: number;
  readonly #sizeOf: (value: Value) => number;
  readonly #values = new Map<string, Value>();
  #size = 0;

  constructor(capacity: number, sizeOf: (value: Value) => number = () => 1) {
    this.#capacity = capacity;
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
    this.#values.clear();
    this.#size = 0;
  }

  /** Returns a stored value, as the one that was used last. */
  #recall(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value); // a map iterates in order of insertion: the latest is last
    return value;
  }

  #store(key: string, value: Value): Value {
    this.#delete(key); // another call may have stored one meanwhile
    const size = this.#sizeOf(value);
    if (size > this.#capacity / 2) return value;
    this.#values.set(key, value);
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#capacity) break;
      this.#delete(oldest);
    }
    return value;
  }

  #delete(key: string): void {
    const value = this.#values.get(key);
    if (value !== undefined) this.#size -= this.#sizeOf(value);
    this.#values.delete(key);
  }
}
