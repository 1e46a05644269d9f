import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, IndexRecord, PageQuery, QueuedJob, RequestOptions } from "./types.ts";

/** The indices of the account. */
export class Indices {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates an index. Without `index_name`, the service chooses one. */
  create(index: BodyOf<"/index", "post"> = {}, options: RequestOptions = {}): Promise<IndexRecord> {
    const request = { method: "POST", path: "/index", json: index, repeatable: "key" } as const;
    return this.#transport.json(request, options);
  }

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<IndexRecord> {
    return listOf(this.#transport, "/index", "indices", query, options);
  }

  async get(name: string, options: RequestOptions = {}): Promise<IndexRecord> {
    const request = { method: "GET", path: pathOf(name), query: { limit: 1 } } as const;
    const { index } = await this.#transport.json<{ index: IndexRecord }>(request, options);
    return index;
  }

  /** Changes the description, the metadata or the settings. */
  update(
    name: string,
    change: BodyOf<"/index/{index_name}", "patch">,
    options: RequestOptions = {},
  ): Promise<IndexRecord> {
    const request = { method: "PATCH", path: pathOf(name), json: change } as const;
    return this.#transport.json(request, options);
  }

  /** Deletes the index at once; the job removes its files and vectors. */
  delete(name: string, options: RequestOptions = {}): Promise<QueuedJob> {
    return this.#transport.json({ method: "DELETE", path: pathOf(name) }, options);
  }
}

function pathOf(name: string): string {
  return `/index/${encodeURIComponent(name)}`;
}
