import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, CreatedKey, Key, PageQuery, RequestOptions } from "./types.ts";

/** API keys of the account. All operations need the scope `admin`. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a key, which is in `api_key` of this response only. */
  create(key: BodyOf<"/keys", "post">, options: RequestOptions = {}): Promise<CreatedKey> {
    const request = { method: "POST", path: "/keys", json: key, repeatable: "key" } as const;
    return this.#transport.json(request, options);
  }

  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Key> {
    return listOf(this.#transport, "/keys", "keys", query, options);
  }

  revoke(id: string, options: RequestOptions = {}): Promise<Key> {
    const path = `/keys/${encodeURIComponent(id)}`;
    return this.#transport.json({ method: "DELETE", path }, options);
  }
}
