import { Indices } from "./indices.ts";
import { Jobs } from "./jobs.ts";
import { Keys } from "./keys.ts";
import { SightlineIndex } from "./sightline-index.ts";
import { type SightlineOptions, Transport } from "./transport.ts";
import type {
  Account,
  BindingObservations,
  BodyOf,
  Health,
  QueryOf,
  RequestOptions,
  Stats,
} from "./types.ts";

/** Client of a Sightline service, for one API key. */
export class Sightline {
  readonly indices: Indices;
  readonly jobs: Jobs;
  readonly keys: Keys;
  readonly #transport: Transport;

  constructor(options: SightlineOptions) {
    this.#transport = new Transport(options);
    this.indices = new Indices(this.#transport);
    this.jobs = new Jobs(this.#transport);
    this.keys = new Keys(this.#transport);
  }

  /** Returns the operations of an index, by its name. Requests nothing. */
  index(name: string): SightlineIndex {
    return new SightlineIndex(this.#transport, name);
  }

  health(query: QueryOf<"/health", "get"> = {}, options: RequestOptions = {}): Promise<Health> {
    return this.#transport.json({ method: "GET", path: "/health", query }, options);
  }

  /** Has the service observe its bindings (docs/deploy.md). Needs the scope `admin`. */
  observeBindings(
    samples: BodyOf<"/health/bindings", "post">,
    options: RequestOptions = {},
  ): Promise<BindingObservations> {
    const request = { method: "POST", path: "/health/bindings", json: samples } as const;
    return this.#transport.json(request, options);
  }

  /** Returns the account, and creates it if the key is used for the first time. */
  init(account: BodyOf<"/init", "post"> = {}, options: RequestOptions = {}): Promise<Account> {
    const request = { method: "POST", path: "/init", json: account, repeatable: "safe" } as const;
    return this.#transport.json(request, options);
  }

  stats(options: RequestOptions = {}): Promise<Stats> {
    return this.#transport.json({ method: "GET", path: "/stats" }, options);
  }
}
