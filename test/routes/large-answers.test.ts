import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MAX_DESCRIPTION } from "../../src/description.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { listSegments, pageSegments } from "../../src/store/index-database/segments.ts";
import { ANSWER_BYTES, type Page, sql } from "../../src/store/sql.ts";
import type { Segment } from "../../src/types.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { addAsset, addAssets, addSegments, numbersTo } from "../support/job-cases.ts";
import { type AssetRef, run, runInIndex } from "../support/store-queries.ts";

/*
 * What an index stored before there were limits, put into its database directly: more than the
 * 32 MiB that an object may answer.
 */

/** Texts of a segment, each as long as it may be. */
const TEXT = "lantern ".repeat(MAX_DESCRIPTION.characters / 8);
const LABELS = JSON.stringify(Array.from({ length: 8000 }, () => "a label of some 25 letters"));
const SEGMENTS = 150;
/** More than a text may have. */
const LONG_TEXT = "lantern ".repeat(150_000);

let client: Client;
let ref: AssetRef & { name: string };

beforeAll(async () => {
  client = await newClient();
  ref = await addAsset(client, "words.jpg");
  await addSegments(ref, SEGMENTS);
  await runInIndex(
    ref,
    `UPDATE segments SET caption = ?1, transcript = ?1, on_screen_text = ?1, labels = ?2,
       described_at = 1`,
    TEXT,
    LABELS,
  );
  await run(
    "UPDATE assets SET segments = (SELECT ?) WHERE asset_id = ?",
    await countSegments(),
    ref.assetId,
  );
});

async function countSegments(): Promise<number> {
  const [row] = await runInIndex<{ count: number }>(ref, "SELECT COUNT(*) AS count FROM segments");
  return row!.count;
}

describe("an index with more text than its database answers at a time", () => {
  it("is searched: the best candidates are found", async () => {
    const call = { json: { query: "lantern", top_k: 500, collapse: false } };
    const { segments } = await client.json("POST", `/index/${ref.name}/search`, call);
    expect(segments.length).toBeGreaterThan(ANSWER_BYTES / 1_000_000);
    expect(segments.length).toBeLessThan(SEGMENTS);
    expect(segments.every(({ caption }: Json) => caption === TEXT)).toBe(true);
  });

  it("has all its segments in a list", async () => {
    const segments = await listSegments(indexDatabase(env, ref), ref.assetId);
    expect(segments).toHaveLength(await countSegments());
    expect(segments.map(({ position }) => position)).toEqual(
      segments.map(({ position }) => position).toSorted((a, b) => a - b),
    );
  });

  it("has all its segments in pages, which end early", async () => {
    const db = indexDatabase(env, ref);
    const sizes: number[] = [];
    for (let after: string | null = ""; after !== null;) {
      const page: Page<Segment> = await pageSegments(db, ref.assetId, { limit: 100, after });
      sizes.push(page.items.length);
      after = page.next;
    }
    expect(Math.max(...sizes)).toBeLessThan(100);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(await countSegments());
  });

  it("is traversed and exported", async () => {
    const { nodes } = await client.json("GET", `/index/${ref.name}/traverse`);
    expect(nodes).toHaveLength(1);
    const response = await client.send("GET", `/index/${ref.name}/export`);
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(["index", "asset", "end"]);
  });

  it("refuses another statement that returns all of it, and nothing else", async () => {
    const db = indexDatabase(env, ref);
    const texts = db.all(
      sql`/* test */ SELECT caption, transcript, on_screen_text, labels FROM segments`,
    );
    await expect(texts).rejects.toMatchObject({ code: "too_large" });
    expect(await db.all(sql`/* test */ SELECT position FROM segments`)).toHaveLength(
      await countSegments(),
    );
  });
});

describe("a page of a traversal with much text", () => {
  it("ends early, and the next one continues it", async () => {
    const other = await addAsset(client, "words.jpg");
    await addAssets(other, 6);
    await runInIndex(
      other,
      `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, caption, labels,
         described_at)
       SELECT 'seg_' || asset_key || 'z' || value, asset_key, 100 + value, 0, ?, ?, 1
       FROM assets, json_each(?)`,
      TEXT,
      LABELS,
      numbersTo(15),
    );
    const path = `/index/${other.name}/traverse`;
    const first = await client.json("GET", path);
    const rest = await client.json("GET", `${path}?cursor=${first.next_cursor}`);
    expect(rest.next_cursor).toBeNull();
    expect([first.nodes.length, rest.nodes.length]).toEqual([4, 3]);
    const ids = [...first.nodes, ...rest.nodes].map(({ asset }: Json) => asset.asset_id);
    expect(new Set(ids).size).toBe(7);
  });
});

describe("a segment with longer text than a description has", () => {
  it("is found, with its text cut", async () => {
    const other = await addAsset(client, "words.jpg");
    await addSegments(other, 40);
    const labels = JSON.stringify(Array.from({ length: 40_000 }, () => "a label of letters"));
    await runInIndex(other, "UPDATE segments SET labels = ?", labels);
    for (const key of JSON.parse(numbersTo(41)) as number[]) {
      const update = `UPDATE segments SET caption = ?
        WHERE segment_key = (SELECT segment_key FROM segments ORDER BY 1 LIMIT 1 OFFSET ?)`;
      await runInIndex(other, update, LONG_TEXT, key - 1);
    }
    const call = { json: { query: "lantern", collapse: false } };
    const { segments } = await client.json("POST", `/index/${other.name}/search`, call);
    expect(segments).toHaveLength(30);
    expect(segments[0].caption).toHaveLength(MAX_DESCRIPTION.characters);
    expect(segments[0].labels).toEqual([]);
  });
});

describe("an index with much metadata", () => {
  it("is searched", async () => {
    const other = await addAsset(client, "words.jpg");
    const count = 600;
    await runInIndex(
      other,
      `INSERT INTO assets (asset_id, asset_type, title, metadata, searchable_at, created_at)
       SELECT substr(asset_id, 1, 25) || (10000 + value), asset_type, title, ?, 1, 1
       FROM assets, json_each(?)`,
      JSON.stringify({ a: "a".repeat(65_000) }),
      numbersTo(count),
    );
    await runInIndex(
      other,
      `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, caption, described_at,
         indexed)
       SELECT 'seg_' || asset_key || 'y', asset_key, 9, 0, ?, 1, 0 FROM assets`,
      "lantern ".repeat(1000),
    );
    const call = { json: { query: "lantern", top_k: 500, collapse: false } };
    const { segments } = await client.json("POST", `/index/${other.name}/search`, call);
    expect(segments.length).toBeGreaterThan(300);
    expect(segments.some(({ metadata }: Json) => metadata.a?.length === 65_000)).toBe(true);
  });
});
