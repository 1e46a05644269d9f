import { env } from "cloudflare:workers";
import { wrapBinding } from "../../tools/wrap-binding.ts";

/** A call of a binding. `start` and `end` order the begins and ends of all calls. */
export interface LoggedCall {
  name: string;
  start: number;
  end: number;
}

/** Duration that calls are extended to, so that those that begin together overlap. */
const CALL_MS = 150;

/** Bindings that are called over the network. Rate limits are counted where the Worker runs. */
const BINDINGS =
  /^(?:DB|MEDIA|AI|(?:TEXT|IMAGE)_VECTORS_\d+|MEDIA_INDEX|INDEX_DATABASE|MODEL_LIMITER)$/;

/** Logs the calls of bindings that have ended. `settings` are the bindings. */
export class CallLog {
  readonly calls: LoggedCall[] = [];
  readonly settings: Partial<Env>;
  #clock = 0;

  constructor(bindings: Env = env) {
    const logged = Object.entries(bindings)
      .filter(([name]) => BINDINGS.test(name))
      .map(([name, binding]) => [name, this.#wrap(name, binding)]);
    this.settings = Object.fromEntries(logged);
  }

  /** Returns the names of the longest series of calls of which each began after the one before. */
  longestChain(): string[] {
    const chains = new Map<LoggedCall, LoggedCall[]>();
    for (const call of this.calls.toSorted((a, b) => a.start - b.start)) {
      const before = [...chains.values()].filter((chain) => chain.at(-1)!.end < call.start);
      const [longest = []] = before.toSorted((a, b) => b.length - a.length);
      chains.set(call, [...longest, call]);
    }
    const [longest = []] = [...chains.values()].toSorted((a, b) => b.length - a.length);
    return longest.map(({ name }) => name);
  }

  async #log<T>(name: string, call: () => Promise<T>): Promise<T> {
    const start = this.#clock++;
    const [outcome] = await Promise.allSettled([call(), scheduler.wait(CALL_MS)]);
    this.calls.push({ name, start, end: this.#clock++ });
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }

  /** Wraps what has methods that are calls, or that return such: a statement, a session, a stub. */
  #wrap(name: string, target: object): object {
    const local = new Set(["prepare", "bind", "withSession", "getByName"]);
    return wrapBinding(target, (method, _, call) => {
      if (method === "getBookmark") return call();
      if (local.has(method)) return this.#wrap(name, call() as object);
      return this.#log(`${name}.${method}`, async () => call());
    });
  }
}
