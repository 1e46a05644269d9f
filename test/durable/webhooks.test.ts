import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { WEBHOOKS } from "../../src/config.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { waitUntil } from "../support/wait.ts";
import {
  waitForDelivery,
  payloadOf,
  signers,
  createWebhookIndex,
  WebhookReceiver,
} from "../support/webhook-receiver.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

const LATER = "3600"; // Retry-After in seconds: no retry happens by itself

const byName = (a: string, b: string) => (a < b ? -1 : 1);
const hasFailed = ({ error }: Json) => error !== null;

/** Makes all pending deliveries due and runs the object's alarm. */
async function runDueDeliveries(object: WebhookIndex["object"], set = "due_at = 0") {
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec(`UPDATE deliveries SET ${set} WHERE due_at IS NOT NULL`);
    return storage.setAlarm(Date.now() + 60_000);
  });
  await runDurableObjectAlarm(object);
}

type WebhookIndex = Awaited<ReturnType<typeof createWebhookIndex>>;

describe("the webhook of an index", () => {
  it("receives events of the types that it names, signed", async () => {
    const { receiver } = await createWebhookIndex(client, "events");
    const webhook_events = ["asset.updated", "asset.ready", "asset.failed", "asset.deleted"];
    const settings = { webhook_url: receiver.url, webhook_events };
    const changed = await client.json("PATCH", "/index/events", { json: { settings } });
    expect(changed.settings).toEqual(settings);
    const form = { image_file: await fixture("words.jpg") };
    const asset = await client.json("POST", "/index/events/image", { form });
    await client.waitForAsset("events", asset);
    await client.json("DELETE", `/index/events/image/${asset.asset_id}`);
    const received = await receiver.waitForRequests(7);
    const { secrets, url, disabled_at } = await client.json("GET", "/index/events/webhook");
    expect({ url, disabled_at }).toEqual({ url: receiver.url, disabled_at: null });
    expect(secrets).toEqual([
      {
        secret: expect.stringMatching(/^whsec_/),
        created_at: expect.any(String),
        expires_at: null,
      },
    ]);
    for (const request of received) expect(signers(request, [secrets[0].secret])).toHaveLength(1);
    const inOrder = received.toSorted((a, b) =>
      a.headers["webhook-id"]! < b.headers["webhook-id"]! ? -1 : 1,
    );
    expect(inOrder.map(payloadOf).map(({ type, data }) => [type, data.state])).toEqual([
      ["asset.updated", "queued"],
      ["asset.updated", "fetching"],
      ["asset.updated", "segmenting"],
      ["asset.updated", "describing"],
      ["asset.updated", "embedding"],
      ["asset.ready", "ready"],
      ["asset.deleted", "ready"],
    ]);
    const { type, timestamp, data } = payloadOf(inOrder[5]!);
    expect({ type, data }).toEqual({
      type: "asset.ready",
      data: {
        index_name: "events",
        asset_id: asset.asset_id,
        asset_type: "image",
        state: "ready",
        progress: 1,
        error: null,
        job_id: asset.job_id,
      },
    });
    expect(inOrder[5]!.headers).toMatchObject({ "content-type": "application/json" });
    const sentAt = Number(inOrder[5]!.headers["webhook-timestamp"]) * 1000;
    expect(sentAt).toBeGreaterThan(Date.parse(timestamp) - 1000); // in whole seconds
    expect(sentAt).toBeLessThanOrEqual(Date.now());
    const log = await waitUntil(async () => {
      const page = await client.json("GET", "/index/events/webhook/deliveries");
      return page.deliveries.every(({ state }: Json) => state === "delivered") && page;
    });
    expect(log.deliveries.map(({ event_id }: Json) => event_id)).toEqual(
      inOrder.map(({ headers }) => headers["webhook-id"]).toReversed(),
    );
    expect(log.deliveries[1].payload).toEqual(payloadOf(inOrder[5]!));
  });

  it("receives how an ingest ends, and the deletion, if it names no types", async () => {
    const { receiver } = await createWebhookIndex(client, "ends");
    for (const name of ["words.jpg", "truncated.jpg"]) {
      const form = { image_file: await fixture(name) };
      const asset = await client.json("POST", "/index/ends/image", { form });
      await client.waitForAsset("ends", asset);
      await client.json("DELETE", `/index/ends/image/${asset.asset_id}`);
    }
    const received = await receiver.waitForRequests(4);
    const types = received.map((request) => payloadOf(request).type).toSorted(byName);
    expect(types).toEqual(["asset.deleted", "asset.deleted", "asset.failed", "asset.ready"]);
    const log = await client.json("GET", "/index/ends/webhook/deliveries");
    expect(log.deliveries).toHaveLength(4);
  });

  it("refuses types that there aren't", async () => {
    const settings = { webhook_events: ["asset.ready", "asset.done"] };
    const json = { index_name: "typed", settings };
    const loc = ["body", "settings", "webhook_events", 1];
    expect(await client.issues("POST", "/index", { json })).toEqual([[loc, "literal_error"]]);
  });

  it("receives a test event on request", async () => {
    const { receiver } = await createWebhookIndex(client, "tested");
    const { event_id, state } = await client.json("POST", "/index/tested/webhook/test");
    expect(state).toBe("pending");
    const [request] = await receiver.waitForRequests(1);
    expect(request!.headers["webhook-id"]).toBe(event_id);
    expect(payloadOf(request!)).toMatchObject({
      type: "webhook.test",
      data: { index_name: "tested" },
    });
  });

  it("has a log with pages, newest delivery first", async () => {
    const { receiver } = await createWebhookIndex(client, "pages");
    const ids = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await client.json("POST", "/index/pages/webhook/test")).event_id);
    }
    await receiver.waitForRequests(5);
    const path = "/index/pages/webhook/deliveries?limit=2";
    const pages = [await client.json("GET", path)];
    while (pages.at(-1).next_cursor) {
      pages.push(await client.json("GET", `${path}&cursor=${pages.at(-1).next_cursor}`));
    }
    expect(pages.map(({ total }) => total)).toEqual([5, 5, 5]);
    const listed = pages.flatMap(({ deliveries }) => deliveries);
    expect(listed.map(({ event_id }) => event_id)).toEqual(ids);
    expect(await client.issues("GET", `${path}&cursor=x`)).toEqual([
      [["query", "cursor"], "value_error"],
    ]);
  });
});

it("a webhook's log retains a limited number of ended deliveries", async () => {
  const { object, receiver } = await createWebhookIndex(client, "bounded");
  const last = 2 * WEBHOOKS.retainedCount - 1;
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec("INSERT INTO events VALUES (?, 0, 'webhook.test', '{}')", last);
    storage.sql.exec(
      `WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
       INSERT INTO deliveries (seq, type, payload, phase, attempts, created_at)
       SELECT seq, 'webhook.test', '{}', 'delivered', 1, 0 FROM n`,
      last,
    );
  });
  await client.json("POST", "/index/bounded/webhook/test");
  await receiver.waitForRequests(1);
  const { deliveries } = await client.json("GET", "/index/bounded/webhook");
  expect(deliveries.delivered + deliveries.pending).toBe(WEBHOOKS.retainedCount + 1);
});

describe("a webhook receiver", () => {
  it("that fails twice gets the same event, with a new signature, until it accepts", async () => {
    const webhookIndex = await createWebhookIndex(client, "refusing");
    await webhookIndex.receiver.plan(
      { status: 500, retryAfter: LATER },
      { status: 503, retryAfter: LATER },
    );
    await client.json("POST", "/index/refusing/webhook/test");
    const scheduled = await waitForDelivery(client, "refusing", hasFailed);
    expect(scheduled).toMatchObject({
      state: "pending",
      status_code: 500,
      error: "The receiver answered 500.",
      ended_at: null,
    });
    await runDueDeliveries(webhookIndex.object);
    await webhookIndex.receiver.waitForRequests(2);
    await waitForDelivery(
      client,
      "refusing",
      ({ attempts, status_code }) => attempts === 2 && status_code === 503,
    );
    await runDueDeliveries(webhookIndex.object);
    const received = await webhookIndex.receiver.waitForRequests(3);
    expect(
      await waitForDelivery(client, "refusing", ({ state }) => state === "delivered"),
    ).toMatchObject({
      attempts: 3,
      status_code: 204,
      error: null,
      next_attempt_at: null,
    });
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    const { secrets } = await client.json("GET", "/index/refusing/webhook");
    for (const request of received) expect(signers(request, [secrets[0].secret])).toHaveLength(1);
  });

  it("that sends Retry-After gets the next attempt after that time", async () => {
    const { receiver } = await createWebhookIndex(client, "busy");
    await receiver.plan({ status: 429, retryAfter: LATER });
    await client.json("POST", "/index/busy/webhook/test");
    const { next_attempt_at } = await waitForDelivery(
      client,
      "busy",
      ({ status_code }) => status_code === 429,
    );
    expect(Date.parse(next_attempt_at) - Date.now()).toBeGreaterThan(3_500_000);
  });

  it("that breaks the connection gets another attempt", async () => {
    const { receiver } = await createWebhookIndex(client, "breaking");
    await receiver.plan("break", "break");
    await client.json("POST", "/index/breaking/webhook/test");
    expect(await waitForDelivery(client, "breaking", hasFailed)).toMatchObject({
      status_code: null,
      error: "The receiver could not be reached, or broke off.",
    });
  });

  it("that redirects to a private address gets no request there", async () => {
    const [{ receiver }, privateReceiver] = [
      await createWebhookIndex(client, "redirecting"),
      new WebhookReceiver(),
    ];
    await receiver.plan({ status: 307, location: privateReceiver.url, retryAfter: LATER });
    await client.json("POST", "/index/redirecting/webhook/test");
    expect(await waitForDelivery(client, "redirecting", hasFailed)).toMatchObject({
      status_code: 307,
      error: "The receiver answered 307: redirects are not followed.",
    });
    expect(await privateReceiver.received()).toEqual([]);
  });

  it("that is unavailable for a day loses the event, which the log shows as failed", async () => {
    const webhookIndex = await createWebhookIndex(client, "unavailable");
    await webhookIndex.receiver.plan(
      { status: 502, retryAfter: LATER },
      { status: 502, retryAfter: LATER },
    );
    await client.json("POST", "/index/unavailable/webhook/test");
    await waitForDelivery(client, "unavailable", hasFailed);
    await runDueDeliveries(
      webhookIndex.object,
      `due_at = 0, created_at = created_at - ${WEBHOOKS.maxAgeMs}`,
    );
    const failed = await waitForDelivery(client, "unavailable", ({ state }) => state === "failed");
    expect(failed).toMatchObject({ attempts: 2, status_code: 502, next_attempt_at: null });
    await runDueDeliveries(webhookIndex.object);
    expect(await webhookIndex.receiver.received()).toHaveLength(2);
    expect((await client.json("GET", "/index/unavailable/webhook")).deliveries).toEqual({
      pending: 0,
      delivered: 0,
      failed: 1,
    });
  });

  it("that answers 410 gets no more events until its URL is set again", async () => {
    const { receiver } = await createWebhookIndex(client, "gone");
    await receiver.plan({ status: 410 });
    await client.json("POST", "/index/gone/webhook/test");
    expect(await waitForDelivery(client, "gone", ({ state }) => state === "failed")).toMatchObject({
      status_code: 410,
    });
    expect((await client.json("GET", "/index/gone/webhook")).disabled_at).toEqual(
      expect.any(String),
    );
    expect((await client.send("POST", "/index/gone/webhook/test")).status).toBe(409);
    const form = { image_file: await fixture("words.jpg") };
    await client.waitForAsset("gone", await client.json("POST", "/index/gone/image", { form }));
    expect(await receiver.received()).toHaveLength(1);
    const settings = { webhook_url: receiver.url };
    await client.json("PATCH", "/index/gone", { json: { settings } });
    await client.json("POST", "/index/gone/webhook/test");
    await receiver.waitForRequests(2);
  });
});

describe("a delivery message", () => {
  it("that was lost is sent again", async () => {
    const webhookIndex = await createWebhookIndex(client, "lost");
    await client.json("POST", "/index/lost/webhook/test");
    await webhookIndex.receiver.waitForRequests(1);
    await waitForDelivery(client, "lost", ({ state }) => state === "delivered");
    // The state after the queue waitForRequests lost the message.
    await runInDurableObject(webhookIndex.object, (_, { storage }) => {
      storage.sql.exec("UPDATE deliveries SET phase = 'queued', attempts = 0, due_at = 0");
    });
    await runDueDeliveries(webhookIndex.object);
    await webhookIndex.receiver.waitForRequests(2);
  });

  it("that arrives twice or late makes one request", async () => {
    const { receiver, indexId } = await createWebhookIndex(client, "twice");
    await client.json("POST", "/index/twice/webhook/test");
    await waitForDelivery(client, "twice", ({ state }) => state === "delivered");
    for (const seq of [1, 1, 7]) {
      const result = await deliver("sightline-local-webhooks", { indexId, seq });
      expect(result.explicitAcks).toHaveLength(1);
    }
    expect(await receiver.received()).toHaveLength(1);
  });
});
