import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { SegmentId } from "../../src/ids.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { keyframeKey, sourceKey, transcriptKey } from "../../src/store/r2/object-keys.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { vectorId } from "../../src/store/vectorize/vectors.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { assetRefOf, run, segmentIdsOf, runInIndex } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;
let textImage: Json;
let boats: Json;

beforeAll(async () => {
  ({ client, video, words: textImage, boats } = await createSampleIndex());
});

const traverse = () => client.json("GET", "/index/trip/traverse");

async function nodeOf({ asset_id }: Json): Promise<Json> {
  return (await traverse()).nodes.find(({ asset }: Json) => asset.asset_id === asset_id);
}

/** Waits until a traversal reports these findings: Vectorize applies writes with a delay. */
async function waitForFindings(asset: Json, codes: string[]): Promise<Json> {
  return waitUntil(async () => {
    const node = await nodeOf(asset);
    const found = node.health.findings.map(({ code }: Json) => code);
    return JSON.stringify(found) === JSON.stringify(codes) && node;
  });
}

describe("a traversal", () => {
  it("lists every asset with its segments and no findings", async () => {
    const { index, nodes, health: indexHealth, total, next_cursor } = await traverse();
    expect(indexHealth).toEqual({ ok: true, findings: [] });
    expect(index).toMatchObject({ index_name: "trip", counts: { videos: 1, images: 2 } });
    expect(nodes.map(({ asset }: Json) => asset.asset_id)).toEqual(
      [video, textImage, boats].map(({ asset_id }) => asset_id),
    );
    for (const { asset, segments, health } of nodes) {
      expect(segments).toHaveLength(asset.segments);
      expect(health).toEqual({ ok: true, findings: [] });
    }
    expect({ total, next_cursor }).toEqual({ total: 3, next_cursor: null });
  });

  it("lists the same nodes in pages and as NDJSON", async () => {
    const { index, nodes } = await traverse();
    const paged = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const cursorQuery: string = cursor && `&cursor=${cursor}`;
      const page = await client.json("GET", `/index/trip/traverse?limit=1${cursorQuery}`);
      paged.push(...page.nodes);
      expect(page.health === null).toBe(page.next_cursor !== null);
      cursor = page.next_cursor;
    }
    const headers = { accept: "application/x-ndjson" };
    const response = await client.send("GET", "/index/trip/traverse?limit=2", { headers });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await response.text()).trimEnd().split("\n");
    const idsOf = (all: Json[]) => all.map(({ asset }) => asset.asset_id);
    expect(idsOf(paged)).toEqual(idsOf(nodes));
    const records = lines.map((line) => JSON.parse(line));
    expect(idsOf(records.slice(0, -1))).toEqual(idsOf(nodes));
    expect(records.at(-1)).toEqual({ index, health: { ok: true, findings: [] } });
  });

  it("of an empty index has no nodes, and of another account's index returns 404", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "empty" } });
    expect(await other.json("GET", "/index/empty/traverse")).toMatchObject({ nodes: [], total: 0 });
    expect((await other.send("GET", "/index/trip/traverse")).status).toBe(404);
  });
});

describe("a traversal finds", () => {
  it("a truncated and a missing source file", async () => {
    const key = sourceKey(await assetRefOf(boats));
    const bytes = await (await env.MEDIA.get(key))!.bytes();
    await env.MEDIA.put(key, bytes.slice(0, 100));
    const truncated = { code: "source_truncated", message: expect.stringContaining("100 of") };
    expect((await nodeOf(boats)).health).toEqual({ ok: false, findings: [truncated] });
    await env.MEDIA.delete(key);
    expect((await nodeOf(boats)).health.findings).toMatchObject([{ code: "source_missing" }]);
    await env.MEDIA.put(key, bytes);
    expect((await nodeOf(boats)).health.ok).toBe(true);
  });

  it("missing keyframes, transcripts and full-text rows, and wrong counts", async () => {
    const videoRef = await assetRefOf(video);
    const { segments } = await client.json("GET", `/index/trip/video/${video.video_id}/segments`);
    const [first] = await listSegments(indexDatabase(env, videoRef), videoRef.assetId);
    await env.MEDIA.delete(keyframeKey(videoRef, first!.keyframeMs));
    await env.MEDIA.delete(transcriptKey(videoRef, null));
    await runInIndex(
      videoRef,
      `DELETE FROM segment_fts
       WHERE rowid = (SELECT segment_key FROM segments WHERE segment_id = ?)`,
      segments[0].segment_id,
    );
    await run("UPDATE assets SET segments = 9 WHERE asset_id = ?", video.asset_id);
    const { health } = await nodeOf(video);
    expect(health.findings.map(({ code }: Json) => code).toSorted()).toEqual([
      "fulltext_missing",
      "keyframes_missing",
      "segment_count_mismatch",
      "transcript_missing",
    ]);
    for (const { message } of health.findings) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  it("missing and stale vectors", async () => {
    const [id] = (await segmentIdsOf(textImage)) as [SegmentId];
    const pair = vectorPair(env, await assetRefOf(textImage));
    const [text] = await pair.text.getByIds([vectorId(id, "text")]);
    await pair.text.deleteByIds([vectorId(id, "text")]);
    await waitForFindings(textImage, ["vectors_missing"]);
    await pair.text.upsert([
      { ...text!, namespace: text!.namespace!, metadata: { ...text!.metadata, model: "older" } },
    ]);
    await waitForFindings(textImage, ["vectors_stale"]);
    await pair.image.deleteByIds([vectorId(id, "image")]);
    await waitForFindings(textImage, ["vectors_missing", "vectors_stale"]);
  });

  it("a failed and a stuck ingest", async () => {
    const form = { image_file: new File([new Uint8Array(40)], "x.jpg") };
    expect((await client.send("POST", "/index/trip/image", { form })).status).toBe(415);
    await run(
      "UPDATE assets SET state = 'failed', error = ? WHERE asset_id = ?",
      JSON.stringify({ code: "unreadable_image", message: "It is damaged." }),
      boats.asset_id,
    );
    const failed = { code: "ingest_failed", message: "It is damaged." };
    expect((await nodeOf(boats)).health.findings).toEqual([failed]);
    const hourMs = 3_600_000;
    await run(
      "UPDATE assets SET state = 'describing', updated_at = ? WHERE asset_id = ?",
      Date.now() - hourMs,
      boats.asset_id,
    );
    const [stuck] = (await nodeOf(boats)).health.findings;
    expect(stuck).toMatchObject({
      code: "ingest_stuck",
      message: expect.stringContaining("60 minutes"),
    });
    await run("UPDATE assets SET updated_at = ? WHERE asset_id = ?", Date.now(), boats.asset_id);
    expect((await nodeOf(boats)).health.ok).toBe(true);
  });
});
