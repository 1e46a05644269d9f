import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openShardIfFull } from "../../src/store/d1/shards.ts";
import { CallLog } from "../support/call-log.ts";
import type { Json } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { createSampleIndex, type SampleIndex } from "../support/sample-index.ts";
import { assetRefOf } from "../support/store-queries.ts";

let sample: SampleIndex;
let key: string;

beforeAll(async () => {
  sample = await createSampleIndex();
});

/** Makes a new key, and searches with it, so that the Worker needn't check it for a minute. */
async function warmUp() {
  const created = await sample.client.json("POST", "/keys", { json: { name: "warm" } });
  key = created.api_key;
  await search(new CallLog(), { query: "warm up" });
}

beforeEach(warmUp);

/** Searches by text only, which no model outside of Cloudflare is called for. */
async function search(log: CallLog, json: object): Promise<Json> {
  const settings = { ...log.settings, IMAGE_EMBEDDINGS_URL: "" };
  let ended = 0; // what ends later, such as the write of the usage, isn't waited for
  const response = await fetchSearch(settings, json, () => (ended = log.calls.length));
  log.calls.splice(ended);
  expect(response.status).toBe(200);
  return response.json();
}

function fetchSearch(settings: Partial<Env>, json: object, onResponse?: () => void) {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(json) };
  return fetchDeployed(settings, key, "/index/trip/search", init, onResponse);
}

/** The first trip embeds the query, beside calls that don't need its vector. */
function requireThree(log: CallLog) {
  const [first, ...later] = log.longestChain();
  expect(first).toBeDefined();
  expect(later).toEqual(["TEXT_VECTORS_1.query", "INDEX_DATABASE.querySegments"]);
  expect(log.calls.map(({ name }) => name)).toContain("AI.run");
}

describe("a warm search makes three round trips one after another", () => {
  it.each<[string, () => object]>([
    ["by text", () => ({})],
    ["of some assets", () => ({ asset_ids: [sample.video.asset_id, sample.boats.asset_id] })],
    ["with a filter", () => ({ filter: { camera: "A" } })],
    ["of images", () => ({ modes: ["image"] })],
  ])("%s", async (_, fields) => {
    const log = new CallLog();
    const query = `two goats ${crypto.randomUUID()}`;
    const { segments } = await search(log, { query, ...fields() });
    expect(segments.length).toBeGreaterThan(0);
    requireThree(log);
  });

  it("in an index of two shards", async () => {
    const { indexId } = await assetRefOf(sample.video);
    await openShardIfFull({ ...env, SHARD_BYTES: "1" }, { indexId, shard: 0 }, 1);
    await warmUp();
    const log = new CallLog();
    await search(log, { query: `two goats ${crypto.randomUUID()}` });
    requireThree(log);
    expect(log.calls.map(({ name }) => name)).toContain("INDEX_DATABASE.countTerms");
  });
});

describe("a query of Vectorize has only the conditions that exclude something", () => {
  const BOTH = ["text", "image"] as const;

  /** Searches, and returns the filters that both kinds of Vectorize indexes received. */
  async function filtersOf(json: object) {
    const filters: Record<string, unknown[]> = { text: [], image: [] };
    const settings = Object.fromEntries(
      BOTH.map((space) => {
        const name = space === "text" ? "TEXT_VECTORS_1" : "IMAGE_VECTORS_1";
        const index = env[name];
        const query: VectorizeIndex["query"] = (vector, options) => {
          filters[space]!.push(options?.filter);
          return index.query(vector, options);
        };
        return [name, { query, getByIds: (ids: string[]) => index.getByIds(ids) }];
      }),
    );
    expect((await fetchSearch(settings, json)).status).toBe(200);
    return filters;
  }

  it("is unfiltered for a search of everything", async () => {
    expect(await filtersOf({ query: "goats" })).toEqual({ text: [undefined], image: [undefined] });
  });

  it("is filtered by type for a search of images", async () => {
    const filter = { asset_type: { $in: ["image"] } };
    const filters = await filtersOf({ query: "goats", modes: ["image"] });
    expect(filters).toEqual({ text: [filter], image: [filter] });
  });

  it("is filtered by kind for a search of speech", async () => {
    const filters = await filtersOf({ query: "goats", modes: ["speech"] });
    expect(filters).toEqual({ text: [{ kind: { $in: ["speech"] } }], image: [] });
  });

  it("is filtered by asset for a search of some assets, and for one by example", async () => {
    const { asset_id } = sample.boats;
    const byId = await filtersOf({ query: "goats", asset_ids: [asset_id] });
    expect(byId.text).toEqual([{ asset_id: { $in: [asset_id] } }]);
    const byExample = await filtersOf({ similar_to: asset_id });
    expect(byExample.image).toEqual([{ asset_id: { $ne: asset_id } }]);
  });
});
