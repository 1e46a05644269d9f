import { wrapBinding } from "./wrap-binding.ts";

/** Bindings whose calls count as subrequests of an invocation. */
const BINDINGS =
  /^(?:DB|MEDIA|AI|FRAMES|IMAGES|(?:TEXT|IMAGE)_VECTORS_\d+|MEDIA_INDEX|INDEX_DATABASE|MODEL_LIMITER|INGEST|JOBS|WEBHOOKS)$/;
/** Methods that make no call: their result has methods that do. */
const LOCAL = new Set(["prepare", "bind", "withSession", "getByName", "resumeMultipartUpload"]);
/** Methods of FRAMES and IMAGES that only prepare a call. */
const PREPARING = new Set(["transform", "output", "draw"]);

/** Counts the queries of D1, the calls of bindings and the fetches that code makes. */
export class CallCounts {
  /** Statements of D1: each one of a batch counts. */
  queries = 0;
  subrequests = 0;
  /** Those of `subrequests` that call no binding. */
  fetches = 0;
  /** Bindings whose calls are counted, and the settings. */
  readonly env: Env;

  constructor(env: Env) {
    const counted = Object.entries(env)
      .filter(([name]) => BINDINGS.test(name))
      .map(([name, binding]) => [name, this.#wrap(name, binding as object)]);
    this.env = { ...env, ...Object.fromEntries(counted) };
  }

  /** Does work, and counts its fetches, too. */
  async during<T>(work: (env: Env) => Promise<T>): Promise<T> {
    const { fetch } = globalThis;
    globalThis.fetch = (...args: Parameters<typeof fetch>) => {
      this.subrequests++;
      this.fetches++;
      return fetch(...args);
    };
    try {
      return await work(this.env);
    } finally {
      globalThis.fetch = fetch;
    }
  }

  #wrap(name: string, target: object): object {
    return wrapBinding(target, (method, args, call) => {
      const result = call();
      if (LOCAL.has(method)) return this.#wrap(name, result as object);
      if (!PREPARING.has(method)) this.#count(name, args);
      return method === "createMultipartUpload"
        ? Promise.resolve(result).then((upload) => this.#wrap(name, upload as object))
        : result;
    });
  }

  #count(name: string, [first]: unknown[]): void {
    this.subrequests++;
    if (name === "DB") this.queries += Array.isArray(first) ? first.length : 1;
  }
}
