import { beforeAll, describe, expect, it } from "vitest";
import { type Client, clientOf, fixture, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "gate" } });
});

const TEXT = { name: "Goats", query: "goats" };
const create = (json: object) => client.json("POST", "/index/gate/watches", { json });

describe("a watch", () => {
  it("is created with defaults, listed, read, changed and deleted", async () => {
    const watch = await create(TEXT);
    expect(watch).toMatchObject({
      watch_id: expect.stringMatching(/^wat_/),
      index_name: "gate",
      name: "Goats",
      query: "goats",
      similar_to: null,
      has_image: false,
      filter: {},
      modes: [],
      asset_types: [],
      min_probability: 0.9,
      webhook_url: null,
      webhook_secret: null,
      paused: false,
      matches: 0,
    });
    const path = `/index/gate/watches/${watch.watch_id}`;
    expect(await client.json("GET", path)).toEqual(watch);
    const { watches, total } = await client.json("GET", "/index/gate/watches");
    expect([watches, total]).toEqual([[watch], 1]);
    const change = { paused: true, filter: { camera: "A" }, min_probability: 0.5 };
    const changed = await client.json("PATCH", path, { json: change });
    expect(changed).toMatchObject({ ...change, name: "Goats", query: "goats" });
    expect(await client.json("DELETE", path)).toEqual({ watch_id: watch.watch_id, deleted: true });
    expect((await client.send("GET", path)).status).toBe(404);
  });

  it.each<[string, object, [string[], string][]]>([
    [
      "nothing",
      {},
      [
        [["body", "name"], "missing"],
        [["body", "query"], "missing"],
      ],
    ],
    ["a query without a word", { name: "a", query: "?" }, [[["body", "query"], "value_error"]]],
    [
      "a probability above 1",
      { ...TEXT, min_probability: 2 },
      [[["body", "min_probability"], "less_than_equal"]],
    ],
    [
      "a private webhook",
      { ...TEXT, webhook_url: "https://10.0.0.1/x" },
      [[["body", "webhook_url"], "value_error"]],
    ],
  ])("is refused with %s", async (_, json, issues) => {
    expect(await client.issues("POST", "/index/gate/watches", { json })).toEqual(issues);
  });

  it("watches for another query once that is changed", async () => {
    const watch = await create(TEXT);
    const path = `/index/gate/watches/${watch.watch_id}`;
    const changed = await client.json("PATCH", path, { json: { query: "sheep -shorn" } });
    expect(changed).toMatchObject({ name: "Goats", query: "sheep -shorn" });
    expect(await client.json("GET", path)).toEqual(changed);
    for (const [query, type] of [
      ["?", "value_error"],
      ["", "string_too_short"],
      [null, "missing"],
    ]) {
      const issues = await client.issues("PATCH", path, { json: { query } });
      expect(issues).toEqual([[["body", "query"], type]]);
    }
    expect(await client.json("GET", path)).toEqual(changed);
  });

  it("with an image needs no query, and may lose and get one", async () => {
    const form = { image_file: await fixture("boats.jpg"), watch: '{"name": "a", "query": "sea"}' };
    const watch = await client.json("POST", "/index/gate/watches", { form });
    const path = `/index/gate/watches/${watch.watch_id}`;
    expect(await client.json("PATCH", path, { json: { query: null } })).toMatchObject({
      query: null,
      has_image: true,
    });
    expect(await client.json("PATCH", path, { json: { query: "lake" } })).toMatchObject({
      query: "lake",
    });
  });

  it("is refused with an example that the index doesn't have", async () => {
    const json = { name: "a", similar_to: "vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q" };
    expect((await client.send("POST", "/index/gate/watches", { json })).status).toBe(404);
  });

  it("is of its index only, and needs the scope `write` to be created", async () => {
    const { watch_id } = await create(TEXT);
    await client.json("POST", "/index", { json: { index_name: "other" } });
    const path = `/index/other/watches/${watch_id}`;
    for (const [method, call] of [["GET"], ["DELETE"], ["PATCH", { json: {} }]] as const) {
      expect((await client.send(method, path, call)).status).toBe(404);
    }
    const reader = await clientOf("reader", ["read"]);
    expect((await reader.send("POST", "/index/gate/watches", { json: TEXT })).status).toBe(403);
  });

  it("shows its webhook's secret only to keys with the scope `admin`", async () => {
    const { watch_id, webhook_secret } = await create({
      ...TEXT,
      webhook_url: "https://hooks.example.com/token",
    });
    expect(webhook_secret).toMatch(/^whsec_/);
    const path = `/index/gate/watches/${watch_id}`;
    const json = { webhook_url: null };
    expect(await client.json("PATCH", path, { json })).toMatchObject({
      webhook_url: null,
      webhook_secret: null,
    });
  });

  it("is refused beyond 200 in an index", async () => {
    await client.json("POST", "/index", { json: { index_name: "full" } });
    const send = () => client.send("POST", "/index/full/watches", { json: TEXT });
    for (let i = 0; i < 200; i += 20) {
      const created = await Promise.all(Array.from({ length: 20 }, send));
      expect(created.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    }
    const refused = await send();
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain("at most 200 watches");
  });
});
