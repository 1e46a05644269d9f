import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { makeSearchRequest, toSearchScope } from "../../src/search/request.ts";
import { listGroups } from "../../src/store/index-database/groups.ts";
import { indexDatabases } from "../../src/store/index-database/index-database.ts";
import type { Client, Issue, Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { type AssetRef, assetRefOf, runInIndex } from "../support/store-queries.ts";

let client: Client;
let index: AssetRef;

beforeAll(async () => {
  const { video, words, boats, ...sample } = await createSampleIndex();
  client = sample.client;
  index = await assetRefOf(video);
  for (const [{ asset_id }, metadata, takenAt] of [
    [words, '{"tags": ["beach", "sun"]}', "2024-06-01T23:30:00.000Z"],
    [boats, '{"tags": "sun"}', "2025-01-02T03:04:05.000Z"],
  ] as const) {
    await runInIndex(
      index,
      `UPDATE assets SET metadata = ?, technical = json_set(technical, '$.taken_at', ?)
       WHERE asset_id = ?`,
      metadata,
      takenAt,
      asset_id,
    );
  }
});

const totalOf = (groups: Json[]): number => groups.reduce((sum, { count }) => sum + count, 0);

describe("facets of a search", () => {
  const search = (json: object) =>
    client.json("POST", "/index/trip/search", { json: { query: "lantern goat boat", ...json } });
  const facets = ["asset_type", "metadata.tags", "taken_at.year"];

  it("count the hits of all pages, on each of them", async () => {
    const first = await search({ facets, top_k: 1 });
    expect(totalOf(first.facets.asset_type)).toBe(first.total);
    expect(first.facets["metadata.tags"]).toContainEqual({ key: "sun", count: 2 });
    expect(first.facets["taken_at.year"]).toContainEqual({ key: "2025", count: 1 });
    const second = await search({ facets, top_k: 1, cursor: first.next_cursor });
    expect(second.facets).toEqual(first.facets);
  });

  it("are absent unless requested, and in the result of a queued search", async () => {
    expect((await search({})).facets).toBeUndefined();
    const { job_id } = await search({ facets, queue_job: true });
    const { result } = await client.waitForJob(job_id);
    expect(Object.keys(result.facets)).toEqual(facets);
  });

  it.each<[unknown, Issue[]]>([
    [["colour"], [[["body", "facets", 0], "value_error"]]],
    [Array(9).fill("label"), [[["body", "facets"], "too_long"]]],
  ])("of %j are refused", async (names, issues) => {
    const json = { query: "boat", facets: names };
    expect(await client.issues("POST", "/index/trip/search", { json })).toEqual(issues);
  });
});

describe("groups of several databases", () => {
  const scope = () => toSearchScope(makeSearchRequest({ topK: 0 })).assets;
  const sizes = { order: "assets", limit: 100 } as const;

  it("are added up", async () => {
    const databases = indexDatabases(env, {
      indexId: index.indexId,
      shards: [0, 1].map((shard) => ({ shard, vectorPair: 1 })),
    });
    await runInIndex(
      { ...index, shard: 1 },
      `INSERT INTO assets (asset_id, asset_type, metadata, searchable_at)
       VALUES ('img_other', 'image', '{"tags": ["sun", "snow"]}', 1)`,
    );
    const grouping = { by: "field", column: "metadata", path: "tags" } as const;
    const list = await listGroups(databases, scope(), grouping, sizes);
    expect(list.groups.map(({ key, assets }) => [key, assets])).toEqual([
      ["sun", 3],
      ["beach", 1],
      ["snow", 1],
      [null, 1],
    ]);
    expect(list).toMatchObject({ groupCount: 4, sum: { assets: 6 }, total: { assets: 4 } });
  });
});
