import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { WEBHOOKS } from "../src/config.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { deliver } from "./started.ts";
import { delivery, payloadOf, signers, startIndex, WebhookReceiver } from "./webhook-receiver.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

const LATER = "3600"; // so that nothing is tried again by itself

const wasRefused = ({ problem }: Json) => problem !== null;

/** Lets the time of what waits come, and the object see to it. */
async function elapse(object: Started["object"], set = "due_at = 0") {
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec(`UPDATE deliveries SET ${set} WHERE due_at IS NOT NULL`);
    return storage.setAlarm(Date.now() + 60_000);
  });
  await runDurableObjectAlarm(object);
}

type Started = Awaited<ReturnType<typeof startIndex>>;

describe("an index with a webhook", () => {
  it("tells it each change of state, signed, and no mere progress", async () => {
    const { receiver } = await startIndex(client, "told");
    const form = { image_file: await fixture("words.jpg") };
    const asset = await client.json("POST", "/index/told/image", { form });
    await client.settled("told", asset);
    await client.json("DELETE", `/index/told/image/${asset.asset_id}`);
    const received = await receiver.has(7);
    const { secrets, url, disabled_at } = await client.json("GET", "/index/told/webhook");
    expect({ url, disabled_at }).toEqual({ url: receiver.url, disabled_at: null });
    expect(secrets).toEqual([
      {
        secret: expect.stringMatching(/^whsec_/),
        created_at: expect.any(String),
        expires_at: null,
      },
    ]);
    for (const one of received) expect(signers(one, [secrets[0].secret])).toHaveLength(1);
    const inOrder = received.toSorted((a, b) =>
      a.headers["webhook-id"]! < b.headers["webhook-id"]! ? -1 : 1,
    );
    expect(inOrder.map(payloadOf).map(({ type, data }) => [type, data.state])).toEqual([
      ["asset.updated", "queued"],
      ["asset.updated", "fetching"],
      ["asset.updated", "segmenting"],
      ["asset.updated", "describing"],
      ["asset.updated", "embedding"],
      ["asset.updated", "ready"],
      ["asset.deleted", "ready"],
    ]);
    const { type, timestamp, data } = payloadOf(inOrder[5]!);
    expect({ type, data }).toEqual({
      type: "asset.updated",
      data: {
        index_name: "told",
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
    expect(sentAt - Date.parse(timestamp)).toBeLessThan(20_000);
    const log = await vi.waitUntil(
      async () => {
        const page = await client.json("GET", "/index/told/webhook/deliveries");
        return page.deliveries.every(({ state }: Json) => state === "delivered") && page;
      },
      { timeout: 10_000 },
    );
    expect(log.deliveries.map(({ event_id }: Json) => event_id)).toEqual(
      inOrder.map(({ headers }) => headers["webhook-id"]).toReversed(),
    );
    expect(log.deliveries[1].payload).toEqual(payloadOf(inOrder[5]!));
  });

  it("can send it a test event", async () => {
    const { receiver } = await startIndex(client, "tried");
    const { event_id, state } = await client.json("POST", "/index/tried/webhook/test");
    expect(state).toBe("waiting");
    const [one] = await receiver.has(1);
    expect(one!.headers["webhook-id"]).toBe(event_id);
    expect(payloadOf(one!)).toMatchObject({ type: "webhook.test", data: { index_name: "tried" } });
  });

  it("pages its log, the newest first", async () => {
    const { receiver } = await startIndex(client, "pages");
    const ids = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await client.json("POST", "/index/pages/webhook/test")).event_id);
    }
    await receiver.has(5);
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

it("a log holds so many deliveries that are over, and not more", async () => {
  const { object, receiver } = await startIndex(client, "bounded");
  const last = 2 * WEBHOOKS.kept - 1;
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
  await receiver.has(1);
  const { deliveries } = await client.json("GET", "/index/bounded/webhook");
  expect(deliveries.delivered + deliveries.waiting).toBe(WEBHOOKS.kept + 1);
});

describe("a receiver that", () => {
  it("refuses twice gets the same again, freshly signed, until it takes it", async () => {
    const started = await startIndex(client, "refusing");
    await started.receiver.plan(
      { status: 500, retryAfter: LATER },
      { status: 503, retryAfter: LATER },
    );
    await client.json("POST", "/index/refusing/webhook/test");
    const waiting = await delivery(client, "refusing", wasRefused);
    expect(waiting).toMatchObject({
      state: "waiting",
      status: 500,
      problem: "The receiver answered 500.",
      ended_at: null,
    });
    await elapse(started.object);
    await started.receiver.has(2);
    await delivery(client, "refusing", ({ attempts, status }) => attempts === 2 && status === 503);
    await elapse(started.object);
    const received = await started.receiver.has(3);
    expect(await delivery(client, "refusing", ({ state }) => state === "delivered")).toMatchObject({
      attempts: 3,
      status: 204,
      problem: null,
      next_try_at: null,
    });
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    const { secrets } = await client.json("GET", "/index/refusing/webhook");
    for (const one of received) expect(signers(one, [secrets[0].secret])).toHaveLength(1);
  });

  it("asks for time is given it", async () => {
    const { receiver } = await startIndex(client, "busy");
    await receiver.plan({ status: 429, retryAfter: LATER });
    await client.json("POST", "/index/busy/webhook/test");
    const { next_try_at } = await delivery(client, "busy", ({ status }) => status === 429);
    expect(Date.parse(next_try_at) - Date.now()).toBeGreaterThan(3_500_000);
  });

  it("breaks off is tried again", async () => {
    const { receiver } = await startIndex(client, "breaking");
    await receiver.plan("break", "break");
    await client.json("POST", "/index/breaking/webhook/test");
    expect(await delivery(client, "breaking", wasRefused)).toMatchObject({
      status: null,
      problem: "The receiver could not be reached, or broke off.",
    });
  });

  it("redirects, to a private address too, is not followed", async () => {
    const [{ receiver }, inside] = [await startIndex(client, "leading"), new WebhookReceiver()];
    await receiver.plan({ status: 307, location: inside.url, retryAfter: LATER });
    await client.json("POST", "/index/leading/webhook/test");
    expect(await delivery(client, "leading", wasRefused)).toMatchObject({
      status: 307,
      problem: "The receiver answered 307: redirects are not followed.",
    });
    expect(await inside.received()).toEqual([]);
  });

  it("is away for a day loses it, and the log says so", async () => {
    const started = await startIndex(client, "away");
    await started.receiver.plan(
      { status: 502, retryAfter: LATER },
      { status: 502, retryAfter: LATER },
    );
    await client.json("POST", "/index/away/webhook/test");
    await delivery(client, "away", wasRefused);
    await elapse(started.object, `due_at = 0, created_at = created_at - ${WEBHOOKS.giveUpMs}`);
    const failed = await delivery(client, "away", ({ state }) => state === "failed");
    expect(failed).toMatchObject({ attempts: 2, status: 502, next_try_at: null });
    await elapse(started.object);
    expect(await started.receiver.received()).toHaveLength(2);
    expect((await client.json("GET", "/index/away/webhook")).deliveries).toEqual({
      waiting: 0,
      delivered: 0,
      failed: 1,
    });
  });

  it("is gone (410) gets nothing more, until its URL is set again", async () => {
    const { receiver } = await startIndex(client, "gone");
    await receiver.plan({ status: 410 });
    await client.json("POST", "/index/gone/webhook/test");
    expect(await delivery(client, "gone", ({ state }) => state === "failed")).toMatchObject({
      status: 410,
    });
    expect((await client.json("GET", "/index/gone/webhook")).disabled_at).toEqual(
      expect.any(String),
    );
    expect((await client.send("POST", "/index/gone/webhook/test")).status).toBe(409);
    const form = { image_file: await fixture("words.jpg") };
    await client.settled("gone", await client.json("POST", "/index/gone/image", { form }));
    expect(await receiver.received()).toHaveLength(1);
    const settings = { webhook_url: receiver.url };
    await client.json("PATCH", "/index/gone", { json: { settings } });
    await client.json("POST", "/index/gone/webhook/test");
    await receiver.has(2);
  });
});

describe("a message to send", () => {
  it("that was lost is asked for again", async () => {
    const started = await startIndex(client, "lost");
    await client.json("POST", "/index/lost/webhook/test");
    await started.receiver.has(1);
    await delivery(client, "lost", ({ state }) => state === "delivered");
    // As if the queue had lost it.
    await runInDurableObject(started.object, (_, { storage }) => {
      storage.sql.exec("UPDATE deliveries SET phase = 'asked', attempts = 0, due_at = 0");
    });
    await elapse(started.object);
    await started.receiver.has(2);
  });

  it("that comes twice, or late, is sent once", async () => {
    const { receiver, indexId } = await startIndex(client, "twice");
    await client.json("POST", "/index/twice/webhook/test");
    await delivery(client, "twice", ({ state }) => state === "delivered");
    for (const seq of [1, 1, 7]) {
      const result = await deliver("sightline-webhooks", { indexId, seq });
      expect(result.explicitAcks).toHaveLength(1);
    }
    expect(await receiver.received()).toHaveLength(1);
  });
});
