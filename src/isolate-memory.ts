const memories = new Set<{ clear: () => void }>();

/**
 * Registers what this isolate remembers from one request to the next: embeddings of queries, say.
 * Only what is derived from constants needn't be registered (scripts/check-memory.ts).
 */
export function remember<Memory extends { clear: () => void }>(memory: Memory): Memory {
  memories.add(memory);
  return memory;
}

/** A remembered value, at first `initial`. */
export class Remembered<Value> {
  readonly #initial: Value;
  value: Value;

  constructor(initial: Value) {
    this.#initial = initial;
    this.value = initial;
    remember(this);
  }

  clear(): void {
    this.value = this.#initial;
  }
}

/** Makes the isolate one that has just started. Files of tests share an isolate. */
export function clearIsolate(): void {
  for (const memory of memories) memory.clear();
}
