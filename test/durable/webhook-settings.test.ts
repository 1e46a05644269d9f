import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, type Json, newClient } from "../support/client.ts";
import { waitForDelivery, signers, createWebhookIndex } from "../support/webhook-receiver.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("the secret of a webhook", () => {
  it("keeps signing for a day after it was rotated", async () => {
    const { receiver, object } = await createWebhookIndex(client, "rotated");
    const before = await client.json("GET", "/index/rotated/webhook");
    const after = await client.json("POST", "/index/rotated/webhook/rotate");
    expect(after.secrets).toHaveLength(2);
    expect(after.secrets[0].expires_at).toBeNull();
    expect(after.secrets[1]).toMatchObject({ secret: before.secrets[0].secret });
    const secrets = after.secrets.map(({ secret }: Json) => secret);
    await client.json("POST", "/index/rotated/webhook/test");
    expect(signers((await receiver.waitForRequests(1))[0]!, secrets)).toEqual(secrets);
    await runInDurableObject(object, (_, { storage }) => {
      const [newest, previous] = storage.kv.get<object[]>("webhookSecrets")!;
      storage.kv.put("webhookSecrets", [newest, { ...previous, expiresAt: Date.now() - 1 }]);
    });
    await client.json("POST", "/index/rotated/webhook/test");
    expect(signers((await receiver.waitForRequests(2))[1]!, secrets)).toEqual([secrets[0]]);
    expect((await client.json("GET", "/index/rotated/webhook")).secrets).toHaveLength(1);
  });

  it("survives removal of the URL and is deleted with the index", async () => {
    const { receiver, object } = await createWebhookIndex(client, "secret");
    const { secrets } = await client.json("GET", "/index/secret/webhook");
    await client.json("PATCH", "/index/secret", { json: { settings: { language: "de" } } });
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/rotate"],
      ["POST", "/test"],
    ] as const) {
      expect((await client.send(method, `/index/secret/webhook${path}`)).status).toBe(404);
    }
    const settings = { webhook_url: receiver.url };
    await client.json("PATCH", "/index/secret", { json: { settings } });
    expect((await client.json("GET", "/index/secret/webhook")).secrets).toEqual(secrets);
    await client.json("DELETE", "/index/secret");
    expect(await object.getWebhook()).toBeNull();
    const stored = await runInDurableObject(object, (_, { storage }) => [
      storage.kv.get("webhookSecrets"),
      storage.sql.exec("SELECT * FROM deliveries").toArray(),
    ]);
    expect(stored).toEqual([undefined, []]);
  });
});

describe("the URL of a webhook", () => {
  it.each<[string, string]>([
    ["https://10.0.0.1/hook", "value_error"],
    ["https://localhost/hook", "value_error"],
    ["https://[::1]/hook", "value_error"],
    ["https://169.254.169.254/latest/meta-data", "value_error"],
    ["https://0x7f.1/hook", "value_error"],
    ["https://user:pass@example.com/hook", "value_error"],
    ["http://example.com/hook", "url_parsing"],
    ["ftp://example.com/hook", "url_parsing"],
    ["hook", "url_parsing"],
  ])("that is private, malformed or not HTTPS returns 422: %s", async (webhook_url, type) => {
    const expected = [[["body", "settings", "webhook_url"], type]];
    const json = { settings: { webhook_url } };
    expect(await client.issues("POST", "/index", { json })).toEqual(expected);
    expect(await client.issues("PATCH", "/index/rotated", { json })).toEqual(expected);
  });

  it("fails pending deliveries when it is removed", async () => {
    const { receiver } = await createWebhookIndex(client, "removed");
    await receiver.plan({ status: 500, retryAfter: "3600" });
    await client.json("POST", "/index/removed/webhook/test");
    await waitForDelivery(client, "removed", ({ error }) => error !== null);
    await client.json("PATCH", "/index/removed", { json: { settings: {} } });
    expect(
      await waitForDelivery(client, "removed", ({ state }) => state === "failed"),
    ).toMatchObject({
      error: "The webhook was removed.",
    });
  });
});
