import type { ApiPath } from "./api-path.ts";
import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { PageQuery, RequestOptions, Upload } from "./types.ts";

/** Resumable uploads that aren't complete. */
export class Uploads {
  readonly #transport: Transport;
  readonly #path: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#path = [...indexPath, "uploads"];
  }

  /**
   * Lists the uploads.
   * @example
   * for await (const { offset, length } of index.uploads.list()) console.log(offset, length);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Upload> {
    return listOf(this.#transport, this.#path, "uploads", query, options);
  }

  /**
   * Returns an upload, also one that is complete.
   * @example
   * const { state, offset } = await index.uploads.get(uploadId);
   */
  get(id: string, options: RequestOptions = {}): Promise<Upload> {
    return this.#transport.json({ method: "GET", path: this.#pathOf(id) }, options);
  }

  /**
   * Ends an upload and deletes its bytes.
   * @example
   * await index.uploads.delete(uploadId);
   */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const headers = { "Tus-Resumable": "1.0.0" };
    await this.#transport.open({ method: "DELETE", path: this.#pathOf(id), headers }, options);
  }

  #pathOf(id: string): ApiPath {
    return [...this.#path, id];
  }
}
