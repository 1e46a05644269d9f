import { listOf, type Page } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { BodyOf, CreatedKey, Key, PageQuery, RequestOptions } from "./types.ts";

/** API keys of the account. All operations need the scope `admin`. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Makes a key, which is in `api_key` of this response only.
   * @example
   * const { api_key } = await sightline.keys.create({ name: "website", scopes: ["read"] });
   */
  create(key: BodyOf<"/keys", "post">, options: RequestOptions = {}): Promise<CreatedKey> {
    const request = { method: "POST", path: ["keys"], json: key, repeatable: "key" } as const;
    return this.#transport.json(request, options);
  }

  /**
   * Lists the keys, without their secrets.
   * @example
   * for await (const { key_id, name } of sightline.keys.list()) console.log(key_id, name);
   */
  list(query: PageQuery = {}, options: RequestOptions = {}): Page<Key> {
    return listOf(this.#transport, ["keys"], "keys", query, options);
  }

  /**
   * Revokes a key. It may still work for a minute.
   * @example
   * await sightline.keys.revoke(keyId);
   */
  revoke(id: string, options: RequestOptions = {}): Promise<Key> {
    const path = ["keys", id];
    return this.#transport.json({ method: "DELETE", path }, options);
  }
}
