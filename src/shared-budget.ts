const POLL_MS = 20;
/** Time after which a waiting call that no longer polls counts as cancelled. */
const ABANDONED_MS = 5000;

/** A call that holds units of the budget, or waits for them. */
interface BudgetClaim {
  units: number;
  /** Epoch ms after which the claim is void, because its request was cancelled. */
  expiresAt: number;
}

/**
 * Units, such as bytes of memory, that the calls in one isolate share. Calls get theirs in the
 * order in which they ask. A Worker's request can be cancelled without running its `finally`, so
 * every claim expires, and a call waits by polling: no promise of one request is resolved by
 * another.
 */
export class SharedBudget {
  readonly #capacity: number;
  readonly #maxHoldMs: number;
  readonly #held = new Set<BudgetClaim>();
  readonly #queue: BudgetClaim[] = [];

  /** `maxHoldMs` is the time after which a claim that wasn't released expires. */
  constructor(capacity: number, maxHoldMs: number) {
    this.#capacity = capacity;
    this.#maxHoldMs = maxHoldMs;
  }

  /** Units that are not held now. */
  get free(): number {
    const now = Date.now();
    let free = this.#capacity;
    for (const claim of this.#held) {
      if (claim.expiresAt <= now) this.#held.delete(claim);
      else free -= claim.units;
    }
    return free;
  }

  /** Runs `work` once `units` are free, at most the whole budget, and holds them meanwhile. */
  async run<T>(units: number, work: () => Promise<T>): Promise<T> {
    const claim = { units: Math.min(units, this.#capacity), expiresAt: 0 };
    await this.#acquire(claim);
    try {
      return await work();
    } finally {
      this.#held.delete(claim);
    }
  }

  async #acquire(claim: BudgetClaim): Promise<void> {
    for (;;) {
      const now = Date.now();
      claim.expiresAt = now + ABANDONED_MS;
      // Another call drops this one from the queue if a long computation held up both.
      if (!this.#queue.includes(claim)) this.#queue.push(claim);
      while (this.#queue[0]!.expiresAt <= now) this.#queue.shift();
      if (this.#queue[0] === claim && claim.units <= this.free) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#queue.shift();
    claim.expiresAt = Date.now() + this.#maxHoldMs;
    this.#held.add(claim);
  }
}
