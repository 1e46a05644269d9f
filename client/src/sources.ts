import { type Page, listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { PageQuery, RequestOptions, Source } from "./types.ts";

/** The platform sources of an index. */
export class Sources {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, indexPath: string) {
    this.#transport = transport;
    this.#path = `${indexPath}/sources`;
  }

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Source> {
    return listOf(this.#transport, this.#path, "sources", query, options);
  }

  /** Ends the synchronization of a source. Its assets stay. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const path = `${this.#path}/${encodeURIComponent(id)}`;
    await this.#transport.json({ method: "DELETE", path }, options);
  }
}
