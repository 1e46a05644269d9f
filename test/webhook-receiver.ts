import { createHmac } from "node:crypto";
import { env } from "cloudflare:workers";
import { inject, vi } from "vitest";
import type { Client, Json } from "./client.ts";
import type { Answer, Received } from "./setup/webhook-server.ts";

/** A receiver of webhooks that no other test uses. */
export class WebhookReceiver {
  readonly url = `${inject("webhooksOrigin")}/${crypto.randomUUID()}`;

  /** How it answers what comes next; after that with 204. */
  async plan(...answers: Answer[]): Promise<void> {
    await fetch(this.url, { method: "PUT", body: JSON.stringify(answers) });
  }

  async received(): Promise<Received[]> {
    return (await fetch(this.url)).json();
  }

  /** Waits until there were so many attempts. */
  async has(attempts: number): Promise<Received[]> {
    return vi.waitUntil(
      async () => {
        const received = await this.received();
        return received.length >= attempts && received;
      },
      { timeout: 20_000, interval: 50 },
    );
  }
}

/** By which of the secrets an attempt is signed, as a receiver finds out. */
export function signers({ headers, body }: Received, secrets: string[]): string[] {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signatures = headers["webhook-signature"]!.split(" ");
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return signatures.includes(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  });
}

export function payloadOf({ body }: Received): Json {
  return JSON.parse(body);
}

/** An index of its own, with a receiver of its events. */
export async function startIndex(client: Client, name: string) {
  const receiver = new WebhookReceiver();
  const settings = { webhook_url: receiver.url };
  await client.json("POST", "/index", { json: { index_name: name, settings } });
  const id = await env.DB.prepare("SELECT index_id AS id FROM indices WHERE name = ?")
    .bind(name)
    .first<string>("id");
  return { receiver, indexId: id!, object: env.MEDIA_INDEX.getByName(id!) };
}

/** The delivery of an index's newest event, once it is as `isThere` says. */
export async function delivery(
  client: Client,
  index: string,
  isThere: (one: Json) => boolean,
): Promise<Json> {
  return vi.waitUntil(
    async () => {
      const [one] = (await client.json("GET", `/index/${index}/webhook/deliveries`)).deliveries;
      return isThere(one) && one;
    },
    { timeout: 20_000, interval: 50 },
  );
}
