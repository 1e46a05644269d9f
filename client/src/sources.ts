import type { ApiPath } from "./api-path.ts";
import { type Page, listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { PageQuery, RequestOptions, Source } from "./types.ts";

/** The platform sources of an index. */
export class Sources {
  readonly #transport: Transport;
  readonly #path: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#path = [...indexPath, "sources"];
  }

  /**
   * Lists the sources, with what their last synchronization found.
   * @example
   * for await (const { source_id, state } of index.sources.list()) console.log(source_id, state);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Source> {
    return listOf(this.#transport, this.#path, "sources", query, options);
  }

  /**
   * Ends the synchronization of a source. Its assets stay.
   * @example
   * await index.sources.delete(sourceId);
   */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const path = [...this.#path, id];
    await this.#transport.json({ method: "DELETE", path }, options);
  }
}
