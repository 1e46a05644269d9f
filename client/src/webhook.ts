import { type Page, listOf } from "./page.ts";
import type { Transport } from "./transport.ts";
import type { Delivery, PageQuery, RequestOptions, Webhook as WebhookRecord } from "./types.ts";

/** The webhook of an index, whose URL is the setting `webhook_url`. */
export class Webhook {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, indexPath: string) {
    this.#transport = transport;
    this.#path = `${indexPath}/webhook`;
  }

  get(options: RequestOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: "GET", path: this.#path }, options);
  }

  /** Makes a new secret; the old one signs for another day. */
  rotateSecret(options: RequestOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: "POST", path: `${this.#path}/rotate` }, options);
  }

  /** Sends a test event. */
  test(options: RequestOptions = {}): Promise<Delivery> {
    return this.#transport.json({ method: "POST", path: `${this.#path}/test` }, options);
  }

  /** Lists deliveries, newest first. */
  deliveries(query: PageQuery = {}, options: RequestOptions = {}): Page<Delivery> {
    return listOf(this.#transport, `${this.#path}/deliveries`, "deliveries", query, options);
  }
}
