import { describe, expect, it } from "vitest";
import { looseIds } from "../../scripts/scoping.ts";
import type { AccountId, AssetId, IndexId, VectorId } from "../../src/ids.ts";
import { getAsset, listAssets, requireAsset, updateFacts } from "../../src/store/assets.ts";
import { indexObject } from "../../src/store/index-object.ts";
import { listJobItems } from "../../src/store/imports.ts";
import { listIndices, requireIndex } from "../../src/store/indices.ts";
import { claimJob, requireJob } from "../../src/store/jobs.ts";
import { sourceKey } from "../../src/store/media.ts";
import { deleteAssetRow } from "../../src/store/removals.ts";
import { listSegments, listSegmentsById, pageSegments } from "../../src/store/segments.ts";
import { getSource } from "../../src/store/sources.ts";
import { getTranscript } from "../../src/store/transcripts.ts";
import { getUpload, listParts } from "../../src/store/uploads.ts";
import { deleteVectors, getVectors, queryVectors } from "../../src/store/vectors.ts";

/** What a request says, and what of it the compiler takes: `tsc` fails where it takes more. Never run. */
void ((env: Env, text: string, account: AccountId, index: IndexId, asset: AssetId) => {
  const { DB: db, TEXT_VECTORS: space } = env;
  const page = { limit: 1, after: text };
  return [
    // By way of its owner.
    requireIndex(db, account, text),
    requireAsset(db, index, "video", text),
    requireJob(db, account, text),
    getUpload(db, index, text),
    listSegmentsById(db, asset, [text]),

    // @ts-expect-error -- no account
    requireIndex(db, text, text),
    // @ts-expect-error -- no account
    listIndices(db, text, page),
    // @ts-expect-error -- no account
    requireJob(db, text, text),
    // @ts-expect-error -- no index
    requireAsset(db, text, "video", text),
    // @ts-expect-error -- no index
    listAssets(db, text, {}, page),
    // @ts-expect-error -- no index
    getUpload(db, text, text),
    // @ts-expect-error -- no index
    queryVectors(space, text, [], 1, {}),
    // @ts-expect-error -- no index
    indexObject(env, text),
    // @ts-expect-error -- no asset
    getAsset(db, text),
    // @ts-expect-error -- no asset
    updateFacts(db, text, {}),
    // @ts-expect-error -- no asset
    deleteAssetRow(db, text),
    // @ts-expect-error -- no asset
    listSegments(db, text, 0, 1),
    // @ts-expect-error -- no asset
    listSegmentsById(db, text, [text]),
    // @ts-expect-error -- no asset
    pageSegments(db, text, page),
    // @ts-expect-error -- no asset
    getTranscript(db, text),
    // @ts-expect-error -- no asset
    sourceKey({ accountId: account, indexId: index, assetId: text }),
    // @ts-expect-error -- no segment
    getVectors(space, [text], "caption"),
    // @ts-expect-error -- no vector
    deleteVectors(space, [text]),
    // @ts-expect-error -- no vector, whatever it looks like
    "seg_1:caption" satisfies VectorId,
    // @ts-expect-error -- no job
    claimJob(db, text, 0),
    // @ts-expect-error -- no job
    listJobItems(db, text),
    // @ts-expect-error -- no source
    getSource(db, text),
    // @ts-expect-error -- no upload
    listParts(db, text),
    // @ts-expect-error -- an index is no asset
    getAsset(db, index),
  ];
});

describe("where text may be an id", () => {
  it.each<[string, string, RegExp]>([
    ["src/store/new.ts", "export function a(db: D1Database, assetId: string)", /^new.ts a takes/],
    ["src/store/new.ts", "export const b = (ids: readonly string[]) => ids;", /^new.ts b takes/],
    ["src/store/new.ts", "export interface C {\n  jobId?: string;\n}", /^new.ts C takes/],
    [
      "src/store/jobs.ts",
      "async function claimJob(jobId: string | null)",
      /^jobs.ts claimJob takes/,
    ],
    ["src/routes/new.ts", "getAsset(db, ours(params.id));", /^src\/routes\/new.ts takes text/],
    ["src/routes/new.ts", "ours<AssetId>(id)", /^src\/routes\/new.ts takes text/],
    ["src/routes/new.ts", "getAsset(db, id as AssetId)", /^src\/routes\/new.ts casts/],
    ["src/routes/new.ts", "z.custom<AssetId>()", /^src\/routes\/new.ts casts/],
    ["src/routes/new.ts", "env.MEDIA_INDEX.getByName(id)", /^src\/routes\/new.ts gets/],
  ])("not in %s: %s", (file, text, problem) => {
    expect(problemsOf(file, text)).toEqual([expect.stringMatching(problem)]);
  });

  it.each<[string, string]>([
    [
      "src/store/jobs.ts",
      "export async function requireJob(db, accountId: AccountId, jobId: string)",
    ],
    ["src/store/new.ts", "export interface Item {\n  platformId: string;\n  rowid: string;\n}"],
    ["src/store/new.ts", "export function a(db: D1Database, assetId: AssetId, ids: SegmentId[])"],
    ["src/routes/new.ts", "function find(assetId: string)"],
    ["src/keys.ts", "const keyId = ours<KeyId>(payload.jti);"],
  ])("in %s: %s", (file, text) => {
    expect(problemsOf(file, text)).toEqual([]);
  });

  it("leave that nobody needs is told of", () => {
    const told = looseIds([["src/keys.ts", "ours(id)"]]);
    expect(told).toContain("scripts/scoping.ts: jobs.ts requireJob needs no leave");
    expect(told).not.toContain("scripts/scoping.ts: src/keys.ts needs no leave");
  });
});

const problemsOf = (file: string, text: string) =>
  looseIds([[file, text]]).filter((problem) => !problem.startsWith("scripts/"));
