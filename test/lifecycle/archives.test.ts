import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createTarget,
  exportLines,
  hostFiles,
  idsOf,
  importLines,
  indexIdOf,
  nodesOf,
} from "../support/archive-helpers.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { createRepairFixture, type RepairFixture, runSearches } from "../support/repair-fixture.ts";
import { assetRefOf, countStored, run } from "../support/store-queries.ts";

let source: Client;
let assets: RepairFixture;
let searches: Json[];
/** Lines of the archive with media. Its URLs lead to a server that the Worker may fetch from. */
let archive: Json[];

beforeAll(async () => {
  source = await newClient();
  assets = await createRepairFixture(source, "from");
  searches = await comparable(source, "from", await runSearches(source, "from"));
  archive = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
});

const done = (result: Json) => ({
  state: "succeeded",
  error: null,
  result: { imported: 0, present: 0, failed: [], is_complete: true, ...result },
});

/** Replaces the ids of segments by title and position, which are the same in both indices. */
async function comparable(client: Client, index: string, results: Json[]): Promise<Json[]> {
  const names = new Map<string, string>();
  for (const { asset, segments } of await nodesOf(client, index)) {
    for (const [i, { segment_id }] of segments.entries()) {
      names.set(segment_id, `${asset.title} ${i}`);
    }
  }
  return results.map((segments: Json) =>
    segments.map((segment: Json) => ({ ...segment, segment_id: names.get(segment.segment_id) })),
  );
}

describe("an export", () => {
  it("has the index, each asset by id, and at the end their number", async () => {
    const lines = await exportLines(source);
    expect(lines.map(({ kind }) => kind)).toEqual(["index", ...Array(6).fill("asset"), "end"]);
    expect(lines[0]).toMatchObject({ index_name: "from" });
    expect(lines.at(-1)).toEqual({ kind: "end", assets: 6 });
    expect(idsOf(lines)).toEqual(Object.values(assets).map(({ asset_id }) => asset_id));
    expect(lines[1].record).toMatchObject({ format: 1, transcript: { cues: [{}, {}] } });
    expect(lines[1]).toMatchObject({ files: [] });
    const { accountId, indexId } = await assetRefOf(assets.clip);
    expect(JSON.stringify(lines)).not.toContain(accountId);
    expect(JSON.stringify(lines)).not.toContain(indexId);
  });

  it("continues behind an asset, and leaves out what is being deleted", async () => {
    const all = idsOf(await exportLines(source));
    expect(idsOf(await exportLines(source, `?after=${all[1]}`))).toEqual(all.slice(2));
    const setDeleted = "UPDATE assets SET deleted_at = ? WHERE asset_id = ?";
    await run(setDeleted, 1, all[5]);
    const lines = await exportLines(source);
    await run(setDeleted, null, all[5]);
    expect(idsOf(lines)).toEqual(all.slice(0, 5));
    expect(lines.at(-1)).toEqual({ kind: "end", assets: 5 });
  });

  it("with media names the files, and no speech", () => {
    const paths = archive[2].files.map(({ path }: Json) => path);
    expect(paths).toContain("source");
    expect(paths).toContain("frame-signatures/0.json");
    expect(paths).toContain("reference-frames/0.bin");
    expect(paths).toContain("storyboard.jpg");
    expect(paths.some((path: string) => /^keyframes\/\d+\.jpg$/.test(path))).toBe(true);
    expect(paths).not.toContain("asset.json");
  });
});

describe("an archive with media that is imported into another account", () => {
  let target: Client;

  beforeAll(async () => {
    target = await createTarget();
    expect(await importLines(target, archive)).toEqual(done({ imported: 6 }));
  });

  it("answers the same searches in the same order, with the same scores", async () => {
    const results = await runSearches(target, "to");
    expect(await comparable(target, "to", results)).toEqual(searches);
  });

  it("has the same records, and no findings", async () => {
    const [before, after] = await Promise.all([nodesOf(source, "from"), nodesOf(target, "to")]);
    const facts = ({ asset }: Json) => {
      const { title, metadata, sha256, duration_seconds, created_at, segments, warnings } = asset;
      return { title, metadata, sha256, duration_seconds, created_at, segments, warnings };
    };
    expect(after.map(facts)).toEqual(before.map(facts));
    expect(after.map(({ health }) => health)).toEqual(
      after.map(() => ({ ok: true, findings: [] })),
    );
    const [video] = after;
    expect((await exports.default.fetch(video.asset.media_url)).status).toBe(200);
    expect((await exports.default.fetch(video.segments[0].thumbnail_url)).status).toBe(200);
    const { url, ...layout } = video.asset.storyboard;
    expect((await exports.default.fetch(url)).status).toBe(200);
    expect(before[0]!.asset.storyboard).toMatchObject(layout);
  });

  it("changes nothing when it is imported again", async () => {
    const indexId = await indexIdOf(target);
    const before = await countStored(indexId);
    expect(await importLines(target, archive)).toEqual(done({ present: 6 }));
    expect(await countStored(indexId)).toEqual(before);
  });

  it("changes nothing in the index that it came from", async () => {
    expect(await importLines(source, archive, "from")).toEqual(done({ present: 6 }));
  });
});

describe("an archive that is imported after its assets were deleted", () => {
  it("has their segments and answers searches", async () => {
    const target = await createTarget();
    const lines = await exportLines(source);
    expect(await importLines(target, lines)).toEqual(done({ imported: 6 }));
    const before = (await nodesOf(target, "to")).map(({ segments }) => segments.length);
    for (const { asset } of await nodesOf(target, "to")) {
      const path = `/index/to/${asset.asset_type}/${asset.asset_id}`;
      const { job_id } = await target.json("DELETE", path);
      expect(await target.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    }
    expect(await importLines(target, lines)).toEqual(done({ imported: 6 }));
    expect((await nodesOf(target, "to")).map(({ segments }) => segments.length)).toEqual(before);
    const call = { json: { query: "lantern festival" } };
    const { segments } = await target.json("POST", "/index/to/search", call);
    expect(segments[0]).toMatchObject({ on_screen_text: expect.stringMatching(/lantern/i) });
  });
});

describe("an archive without media that is imported", () => {
  it("answers the same searches for words in the same order", async () => {
    const target = await createTarget();
    expect(await importLines(target, await exportLines(source))).toEqual(done({ imported: 6 }));
    for (const query of ["lantern festival", "the keeper and his goats", "an old house"]) {
      const call = { json: { query, modes: ["video", "image", "speech", "text"] } };
      const [before, after] = await Promise.all([
        source.json("POST", "/index/from/search", call),
        target.json("POST", "/index/to/search", call),
      ]);
      const hits = ({ segments }: Json) =>
        segments.map((hit: Json) => [hit.title, hit.start_seconds, hit.caption, hit.transcript]);
      expect(hits(before).length).toBeGreaterThan(0);
      expect(hits(after)).toEqual(hits(before));
    }
    const [{ asset }] = await nodesOf(target, "to");
    expect(asset.warnings).toMatchObject([{ code: "source_missing" }]);
    expect((await exports.default.fetch(asset.media_url)).status).toBe(404);
    const { job_id } = await target.json("POST", "/index/to/traverse");
    const { result } = await target.waitForJob(job_id);
    expect(result.unrepaired.some(({ code }: Json) => code === "source_missing")).toBe(true);
    const boats = (await nodesOf(target, "to")).find((node) => node.asset.title === "boats.jpg");
    expect(boats).toMatchObject({ asset: { warnings: [] }, health: { ok: true } });
    expect((await exports.default.fetch(boats.asset.media_url)).status).toBe(200);
  });
});
