import type { ApiPath } from "./api-path.ts";
import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, IndexRecord, PageQuery, QueuedJob, RequestOptions } from "./types.ts";

/** The indices of the account. */
export class Indices {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates an index. Without `index_name`, the service chooses one.
   * @example
   * const { index_name } = await sightline.indices.create({ index_name: "trip" });
   */
  create(index: BodyOf<"/index", "post"> = {}, options: RequestOptions = {}): Promise<IndexRecord> {
    const request = { method: "POST", path: ["index"], json: index, repeatable: "key" } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Lists the indices, oldest first.
   * @example
   * for await (const { index_name, counts } of sightline.indices.list()) {
   *   console.log(index_name, counts.videos);
   * }
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<IndexRecord> {
    return listOf(this.#transport, ["index"], "indices", query, options);
  }

  /**
   * Returns the record of an index.
   * @example
   * const { counts, states } = await sightline.indices.get("trip");
   */
  async get(name: string, options: RequestOptions = {}): Promise<IndexRecord> {
    const request = { method: "GET", path: pathOf(name), query: { limit: 1 } } as const;
    const { index } = await this.#transport.json<{ index: IndexRecord }>(request, options);
    return index;
  }

  /**
   * Changes the description, the metadata or the settings.
   * @example
   * await sightline.indices.update("trip", { settings: { traverse_every_hours: 12 } });
   */
  update(
    name: string,
    change: BodyOf<"/index/{index_name}", "patch">,
    options: RequestOptions = {},
  ): Promise<IndexRecord> {
    const request = { method: "PATCH", path: pathOf(name), json: change } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Deletes the index at once; the job removes its files and vectors.
   * @example
   * const { job_id } = await sightline.indices.delete("trip");
   */
  delete(name: string, options: RequestOptions = {}): Promise<QueuedJob> {
    return this.#transport.json({ method: "DELETE", path: pathOf(name) }, options);
  }
}

function pathOf(name: string): ApiPath {
  return ["index", name];
}
