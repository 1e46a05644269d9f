import type { ApiPath } from "./api-path.ts";
import { type Page, listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { Delivery, PageQuery, RequestOptions, Webhook as WebhookRecord } from "./types.ts";

/** The webhook of an index, whose URL is the setting `webhook_url`. */
export class Webhook {
  readonly #transport: Transport;
  readonly #path: ApiPath;

  constructor(transport: Transport, indexPath: ApiPath) {
    this.#transport = transport;
    this.#path = [...indexPath, "webhook"];
  }

  /**
   * Returns the webhook, with the secret that signs its messages.
   * @example
   * const webhook = await index.webhook.get();
   */
  get(options: RequestOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: "GET", path: this.#path }, options);
  }

  /**
   * Makes a new secret; the old one signs for another day.
   * @example
   * const webhook = await index.webhook.rotateSecret();
   */
  rotateSecret(options: RequestOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: "POST", path: [...this.#path, "rotate"] }, options);
  }

  /**
   * Sends a test event.
   * @example
   * const { state } = await index.webhook.test();
   */
  test(options: RequestOptions = {}): Promise<Delivery> {
    return this.#transport.json({ method: "POST", path: [...this.#path, "test"] }, options);
  }

  /**
   * Lists deliveries, newest first.
   * @example
   * for await (const { type, state } of index.webhook.deliveries()) {
   *   console.log(type, state);
   * }
   */
  deliveries(query: PageQuery = {}, options: RequestOptions = {}): Page<Delivery> {
    return listOf(this.#transport, [...this.#path, "deliveries"], "deliveries", query, options);
  }
}
