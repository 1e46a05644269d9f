/** Connections a Worker may wait for at once (Workers limit: six). */
export const CONNECTIONS = 6;

/**
 * Maps items by an asynchronous function, at most `concurrency` at a time. Results are in the order
 * of the items. Rejects with the first error.
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  mapItem: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const drainQueue = async () => {
    for (const [i, item] of queue) results[i] = await mapItem(item);
  };
  await Promise.all(Array.from({ length: concurrency }, drainQueue));
  return results;
}

/** Awaits `work`. Throws the reason of `signal` as soon as that aborts; `work` goes on. */
export async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Lets other requests of the isolate run. */
export async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

/** Reads of bytes in memory after which a reader pauses: they take some 20 ms. */
export const PAUSE_READS = 4000;

/** Characters that are tokenized in some 5 ms. */
const SLICE_CHARACTERS = 50_000;

/**
 * Divides work on texts into slices, between which other requests of the isolate run. A Worker
 * can't tell how long it has run without a pause, so the work is counted.
 */
export class TimeSlice {
  readonly #size: number;
  #used = 0;

  /** `cost`: how many times longer a character takes than to tokenize it. */
  constructor(cost = 1) {
    this.#size = SLICE_CHARACTERS / cost;
  }

  /** Pauses if the slice is used up. */
  async use(characters: number): Promise<void> {
    this.#used += characters;
    if (this.#used < this.#size) return;
    this.#used = 0;
    await pause();
  }
}
