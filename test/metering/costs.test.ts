import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { PRICES } from "../../src/config.ts";
import { recordStored } from "../../src/store/d1/usage.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import {
  endDeferral,
  isDeferred,
  readParts,
  setState,
  startAsset,
} from "../support/ingest-helpers.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let accountId: string;

beforeAll(async () => {
  ({ client } = await createSampleIndex());
  accountId = (await client.json("GET", "/stats")).account_id;
});

const today = async (): Promise<Json> => (await client.json("GET", "/stats")).usage.today;

const setBudget = (limit: number | undefined) =>
  env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify({ cost_usd_per_day: limit }), accountId)
    .run();

/** Returns the operations of one call, once they have been recorded. */
async function operationsOf(call: () => Promise<unknown>): Promise<Json> {
  await expect.poll(async () => (await today()).searches).toBe((await today()).searches);
  const before = await today();
  await call();
  await expect.poll(async () => (await today()).searches).toBe(before.searches + 1);
  const after = await today();
  return Object.fromEntries(
    Object.entries<number>(after.operations).map(([name, count]) => [
      name,
      count - before.operations[name],
    ]),
  );
}

describe("the operations of a day", () => {
  it("are those of ingests, by all bindings", async () => {
    const { operations } = await today();
    const unused = Object.entries(operations).filter(([, count]) => count === 0);
    expect(unused.map(([name]) => name)).toEqual([
      "audio_seconds",
      "converted_seconds",
      "dimensions_queried",
    ]);
  });

  it("are those of a search", async () => {
    const search = () => client.json("POST", "/index/trip/search", { json: { query: "lantern" } });
    const counts = await operationsOf(search);
    expect(counts.dimensions_queried).toBeGreaterThanOrEqual(1024);
    expect(counts.object_requests).toBeGreaterThanOrEqual(1);
    expect(counts.rows_read).toBeGreaterThan(0);
    expect(counts).toMatchObject({ frames: 0, images: 0, vectors_written: 0 });
  });

  it("count a transformation for a search by image, and models and images for masks", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const byImage = await operationsOf(() =>
      client.json("POST", "/index/trip/search_image", { form }),
    );
    expect(byImage.images).toBe(1); // reading its size is free
    const json = { query: "boat", use_boxes: true, use_masks: true };
    const masked = await operationsOf(() => client.json("POST", "/index/trip/search", { json }));
    expect(masked.images).toBeGreaterThan(0);
    expect(masked.bucket_reads).toBeGreaterThan(0);
  });
});

it("requests that follow each other share one write of their usage", async () => {
  let writes = 0;
  const prepare = (query: string) => {
    if (query.startsWith("INSERT INTO usage")) writes += 1;
    return env.DB.prepare(query);
  };
  const DB = new Proxy(env.DB, {
    get: (db, name) => {
      if (name === "prepare") return prepare;
      const value: unknown = Reflect.get(db, name);
      return typeof value === "function" ? value.bind(db) : value;
    },
  });
  // An hour passes once all three have been answered.
  const { promise: hour, resolve: endHour } = Promise.withResolvers<void>();
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation((ms, options) =>
    ms === 3_600_000 ? hour : wait(ms, options),
  );
  const other = await newClient();
  await other.json("POST", "/index", { json: { index_name: "empty" } });
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "boats" }),
  };
  const settings = { DB, USAGE_WRITE_SECONDS: "3600" };
  let waiting = 3;
  const onResponse = () => {
    waiting -= 1;
    if (waiting === 0) endHour();
  };
  const search = () => fetchDeployed(settings, other.key, "/index/empty/search", init, onResponse);
  await Promise.all([search(), search(), search()]);
  expect(writes).toBe(1);
  expect((await other.json("GET", "/stats")).usage.today.searches).toBe(3);
});

it("the estimated cost is the sum of operations and prices, by kind", async () => {
  await recordStored(env.DB);
  const { operations, neurons_estimate, costs_usd, estimated_cost_usd } = await today();
  expect(costs_usd.frames).toBeCloseTo(operations.frames * PRICES.frames, 12);
  expect(costs_usd.models).toBeCloseTo(neurons_estimate * PRICES.neurons, 12);
  expect(costs_usd.storage).toBeGreaterThan(0);
  const sum = Object.values<number>(costs_usd).reduce((total, cost) => total + cost, 0);
  expect(estimated_cost_usd).toBeCloseTo(sum, 12);
  expect(estimated_cost_usd).toBeGreaterThan(costs_usd.frames);
});

describe("an account whose cost of the day is over its limit", () => {
  it.each<[string, () => Promise<Response>]>([
    ["search", () => client.send("POST", "/index/trip/search", { json: { query: "boat" } })],
    ["answer", () => client.send("GET", "/index/trip/answer?query=Who+is+there")],
    [
      "ingest",
      async () => {
        const form = { image_file: await fixture("words.jpg") };
        return client.send("POST", "/index/trip/image", { form });
      },
    ],
  ])("gets no %s, and is told when there is more", async (_, send) => {
    await setBudget(0.0001);
    const response = await send();
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const { detail }: Json = await response.json();
    expect(detail).toMatch(/limit cost_usd_per_day \(0.0001\); .+ midnight \(UTC\)/);
    await setBudget(undefined);
  });

  it("keeps its ingests in progress, which go on once there is more", async () => {
    const { asset, object } = await startAsset(client, "paused");
    await client.waitForAsset("paused", asset);
    await setBudget(0);
    const part = { status: "dispatched", attempts: 0, dispatches: 1, dueAt: 0 };
    await setState(object, { step: "embed", parts: [part] });
    await runDurableObjectAlarm(object);
    await waitUntil(async () => (await readParts(object)).some(isDeferred));
    await setBudget(undefined);
    await endDeferral(object);
    const record = await client.waitForAsset("paused", asset);
    expect(record).toMatchObject({ state: "ready", error: null });
  });

  it("can still list, read and delete", async () => {
    await setBudget(0);
    for (const path of ["/index", "/index/trip", "/stats"]) {
      expect((await client.send("GET", path)).status).toBe(200);
    }
    await setBudget(undefined);
  });
});
