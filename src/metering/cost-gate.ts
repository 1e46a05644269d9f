import { AppError } from "../errors.ts";
import type { AccountId } from "../ids.ts";
import { remember } from "../isolate-memory.ts";
import type { CountName } from "../store/d1/usage.ts";

/** Counts of calls that are billed by the call: of models, decoders and vectors. */
const BILLED: ReadonlySet<string> = new Set<CountName>([
  "modelCalls",
  "frames",
  "images",
  "convertedSeconds",
  "dimensionsQueried",
]);

/** Accounts whose last check refused them, in this isolate. */
const refused = remember(new Set<AccountId>());
const MAX_REFUSED = 10_000;

/**
 * Lets an invocation make billed calls once its account is admitted, which is when a check of its
 * quota begins. If the check fails, every later call throws its error.
 */
export class CostGate {
  readonly #accountId: AccountId;
  #state: "closed" | "open" | Error = "closed";

  constructor(accountId: AccountId) {
    this.#accountId = accountId;
  }

  /** Whether calls may be made while a check is in progress: the last one admitted the account. */
  get isExpectedToOpen(): boolean {
    return !refused.has(this.#accountId);
  }

  /** Opens the gate, until `check` rejects. Resolves and rejects as `check` does. */
  async admit<T>(check: Promise<T>): Promise<T> {
    if (this.isExpectedToOpen) this.#state = "open";
    try {
      const result = await check;
      this.#state = "open";
      refused.delete(this.#accountId);
      return result;
    } catch (error) {
      this.#state = error instanceof Error ? error : new Error("The check failed");
      if (refused.size >= MAX_REFUSED) refused.clear();
      if (isRefusal(error)) refused.add(this.#accountId);
      throw error;
    }
  }

  /** Opens the gate for work that no quota refuses: deletions. */
  open(): void {
    this.#state = "open";
  }

  /** Throws before a billed call that is counted as `name`, unless the gate is open. */
  require(name: string): void {
    if (this.#state === "open" || !BILLED.has(name)) return;
    if (this.#state !== "closed") throw this.#state;
    throw new Error(`A call that is billed as ${name} was made before its account was admitted`);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && /^(cost_)?limit_reached$/.test(error.code);
}

/** The gates of metered environments. */
const gates = new WeakMap<Env, CostGate>();

export function setCostGate(env: Env, gate: CostGate): void {
  gates.set(env, gate);
}

/** Returns the gate of a metered environment. */
export function costGate(env: Env): CostGate {
  const gate = gates.get(env);
  if (!gate) throw new Error("The environment is not metered");
  return gate;
}
