import { createHmac } from "node:crypto";
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import type { PlannedResponse, Received } from "../setup/webhook-server.ts";
import type { Client, Json } from "./client.ts";
import { waitUntil } from "./wait.ts";

/** A webhook receiver with a URL of its own, on the server of test/setup. */
export class WebhookReceiver {
  readonly url = `${inject("webhooksOrigin")}/${crypto.randomUUID()}`;

  /** Sets the responses to the next requests. Later ones get 204. */
  async plan(...responses: PlannedResponse[]): Promise<void> {
    await fetch(this.url, { method: "PUT", body: JSON.stringify(responses) });
  }

  async received(): Promise<Received[]> {
    return (await fetch(this.url)).json();
  }

  /** Waits until the receiver has had `count` requests. */
  async waitForRequests(count: number): Promise<Received[]> {
    return waitUntil(async () => {
      const received = await this.received();
      return received.length >= count && received;
    });
  }
}

/** Returns the secrets that a request is signed with, verified as a receiver does. */
export function signers({ headers, body }: Received, secrets: string[]): string[] {
  const signedContent = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signatures = headers["webhook-signature"]!.split(" ");
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return signatures.includes(
      `v1,${createHmac("sha256", key).update(signedContent).digest("base64")}`,
    );
  });
}

export function payloadOf({ body }: Received): Json {
  return JSON.parse(body);
}

/** Creates an index with a webhook. */
export async function createWebhookIndex(client: Client, name: string) {
  const receiver = new WebhookReceiver();
  const settings = { webhook_url: receiver.url };
  await client.json("POST", "/index", { json: { index_name: name, settings } });
  const id = await env.DB.prepare("SELECT index_id AS id FROM indices WHERE name = ?")
    .bind(name)
    .first<string>("id");
  return { receiver, indexId: id!, object: env.MEDIA_INDEX.getByName(id!) };
}

/** Waits until the delivery of an index's newest event matches, and returns its record. */
export async function waitForDelivery(
  client: Client,
  index: string,
  matches: (delivery: Json) => boolean,
): Promise<Json> {
  return waitUntil(async () => {
    const [delivery] = (await client.json("GET", `/index/${index}/webhook/deliveries`)).deliveries;
    return matches(delivery) && delivery;
  });
}
