import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { PageQuery, RequestOptions, Upload } from "./types.ts";

/** Resumable uploads that aren't complete. */
export class Uploads {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, indexPath: string) {
    this.#transport = transport;
    this.#path = `${indexPath}/uploads`;
  }

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Upload> {
    return listOf(this.#transport, this.#path, "uploads", query, options);
  }

  /** Returns an upload, also one that is complete. */
  get(id: string, options: RequestOptions = {}): Promise<Upload> {
    return this.#transport.json({ method: "GET", path: this.#pathOf(id) }, options);
  }

  /** Ends an upload and deletes its bytes. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const headers = { "Tus-Resumable": "1.0.0" };
    await this.#transport.open({ method: "DELETE", path: this.#pathOf(id), headers }, options);
  }

  #pathOf(id: string): string {
    return `${this.#path}/${encodeURIComponent(id)}`;
  }
}
