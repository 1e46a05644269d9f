import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/ids.ts";
import { newAsset } from "../../src/lifecycle/create-asset.ts";
import { insertAsset } from "../../src/store/d1/assets.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import type { Limit } from "../../src/store/d1/quotas.ts";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "../support/client.ts";
import { waitUntil } from "../support/wait.ts";

const REQUEST_COUNT = 20;

let client: Client;
let accountId: string;
let image: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  image = new Uint8Array(await (await fixture("words.jpg")).arrayBuffer());
});

async function setLimits(limits: { [limit in Limit]?: number }, account = accountId) {
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), account)
    .run();
}

/** Makes a form with a file of its own for each `i`, of the same content and length. */
function imageForm(i: number) {
  const bytes = new Uint8Array(image.length + 1);
  bytes.set(image);
  bytes[image.length] = i;
  return { form: { image_file: new File([bytes], `${i}.jpg`) } };
}

async function sendAll(send: (i: number) => Promise<Response>): Promise<Response[]> {
  return Promise.all(Array.from({ length: REQUEST_COUNT }, (_, i) => send(i)));
}

const countStatus = (responses: Response[], status: number) =>
  responses.filter((response) => response.status === status).length;

async function newIndex(name: string) {
  await setLimits({});
  await client.json("POST", "/index", { json: { index_name: name } });
}

describe("concurrent requests don't exceed the limit", () => {
  it("stored_bytes", async () => {
    await newIndex("bytes");
    const before = (await client.json("GET", "/stats")).size_bytes;
    const size = image.length + 1;
    await setLimits({ stored_bytes: before + 3 * size });
    const responses = await sendAll((i) => client.send("POST", "/index/bytes/image", imageForm(i)));
    expect([countStatus(responses, 200), countStatus(responses, 402)]).toEqual([
      3,
      REQUEST_COUNT - 3,
    ]);
    const { assets, total } = await client.json("GET", "/index/bytes?limit=100");
    expect(total).toBe(3);
    expect((await client.json("GET", "/stats")).size_bytes).toBe(before + 3 * size);
    const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` });
    const stored = new Set(objects.map(({ key }) => key.split("/")[2]));
    expect(stored).toEqual(new Set(assets.map(({ asset_id }: Json) => asset_id)));
  });

  it("stored_bytes with files that the ingest downloads", async () => {
    const names = ["a", "b", "c", "d"];
    for (const name of names) await newIndex(`fetched-${name}`);
    const before = (await client.json("GET", "/stats")).size_bytes;
    await setLimits({ stored_bytes: before + 2 * image.length });
    const url = fixtureUrl("words.jpg");
    const outcomes = await Promise.all(
      names.map(async (name) => {
        const index = `fetched-${name}`;
        const { asset_id } = await client.json("POST", `/index/${index}/image?image_url=${url}`);
        return waitUntil(async () => {
          const record = await client.json("GET", `/index/${index}/image/${asset_id}`);
          return record.error?.code ?? (record.size_bytes > 0 && "fetched");
        });
      }),
    );
    const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
    expect([count("fetched"), count("account_full")]).toEqual([2, 2]);
    expect((await client.json("GET", "/stats")).size_bytes).toBe(before + 2 * image.length);
  });

  it("concurrent_ingests", async () => {
    // A new account has no ingests, and inserting without starting keeps them all queued.
    const other = await newClient();
    const { account_id } = await other.json("POST", "/init");
    await other.json("POST", "/index", { json: { index_name: "ingests" } });
    await setLimits({ concurrent_ingests: 3 }, account_id);
    const index = await requireIndex(env.DB, account_id, "ingests");
    const inserts = Array.from({ length: REQUEST_COUNT }, () => {
      const { indexId, accountId } = index;
      const identity = {
        assetId: newId("img"),
        indexId,
        accountId,
        shard: 0,
        vectorPair: 1,
        assetType: "image",
      } as const;
      const input = { title: "p.jpg", source: { kind: "upload" }, metadata: {} } as const;
      return insertAsset(env.DB, newAsset(identity, index, undefined, input, Date.now()));
    });
    const outcomes = await Promise.allSettled(inserts);
    const refusals = outcomes.filter(({ status }) => status === "rejected");
    expect(refusals).toHaveLength(REQUEST_COUNT - 3);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ reason: { code: "limit_reached" } });
    }
    const { states } = await other.json("GET", "/stats");
    expect(states.queued).toBe(3);
    const path = `/index/ingests/image?image_url=${fixtureUrl("boats.jpg")}`;
    expect((await other.send("POST", path)).status).toBe(429);
    await env.DB.prepare("DELETE FROM assets WHERE account_id = ? AND state = 'queued'")
      .bind(account_id)
      .run();
    expect((await other.send("POST", path)).status).toBe(200);
  });

  it("ingest_images_per_day", async () => {
    await newIndex("images");
    const { ingested_images } = (await client.json("GET", "/stats")).usage.today;
    const { states } = await client.json("GET", "/stats");
    await setLimits({
      ingest_images_per_day: ingested_images + states.queued + states.processing + 2,
    });
    const responses = await sendAll((i) =>
      client.send("POST", "/index/images/image", imageForm(i)),
    );
    expect([countStatus(responses, 200), countStatus(responses, 429)]).toEqual([
      2,
      REQUEST_COUNT - 2,
    ]);
  });

  it("keys", async () => {
    await setLimits({ keys: 4 }); // the account has one
    const responses = await sendAll((i) =>
      client.send("POST", "/keys", { json: { name: `${i}` } }),
    );
    expect([countStatus(responses, 200), countStatus(responses, 402)]).toEqual([
      3,
      REQUEST_COUNT - 3,
    ]);
    expect((await client.json("GET", "/keys")).total).toBe(4);
  });
});
