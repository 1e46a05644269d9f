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

  /**
   * Returns the operations of an index, by its name. Requests nothing.
   * @example
   * const { segments } = await sightline.index("trip").search("a red bicycle");
   */
  index(name: string): SightlineIndex {
    return new SightlineIndex(this.#transport, name);
  }

  /**
   * Returns whether the service works; with `deep`, whether each of its parts does.
   * @example
   * const { ok, version } = await sightline.health();
   */
  health(query: QueryOf<"/health", "get"> = {}, options: RequestOptions = {}): Promise<Health> {
    return this.#transport.json({ method: "GET", path: ["health"], query }, options);
  }

  /**
   * Has the service observe its bindings (docs/deploy.md). Needs the scope `operator`.
   * @example
   * const observations = await sightline.observeBindings(samples);
   */
  observeBindings(
    samples: BodyOf<"/health/bindings", "post">,
    options: RequestOptions = {},
  ): Promise<BindingObservations> {
    const request = { method: "POST", path: ["health", "bindings"], json: samples } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Returns the account, and creates it if the key is used for the first time.
   * @example
   * const { account_id, limits } = await sightline.init({ name: "Film archive" });
   */
  init(account: BodyOf<"/init", "post"> = {}, options: RequestOptions = {}): Promise<Account> {
    const request = { method: "POST", path: ["init"], json: account, repeatable: "safe" } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Returns what the account has stored and used.
   * @example
   * const { videos, images, size_bytes } = await sightline.stats();
   */
  stats(options: RequestOptions = {}): Promise<Stats> {
    return this.#transport.json({ method: "GET", path: ["stats"] }, options);
  }
}
