import { describe, expect, it } from "vitest";
import { findLooseIds } from "../../../scripts/check-ids.ts";
import type { AccountId, AssetId, IndexId, VectorId } from "../../../src/ids.ts";
import { deleteAssetRows } from "../../../src/store/asset-changes.ts";
import {
  getAsset,
  listAssets,
  requireAsset,
  updateProperties,
} from "../../../src/store/d1/assets.ts";
import { listJobItems } from "../../../src/store/d1/imports.ts";
import { listIndices, requireIndex } from "../../../src/store/d1/indices.ts";
import { claimJob, requireJob } from "../../../src/store/d1/jobs.ts";
import { getSource } from "../../../src/store/d1/sources.ts";
import { getUpload, listParts } from "../../../src/store/d1/uploads.ts";
import { indexDatabase } from "../../../src/store/index-database/index-database.ts";
import {
  listSegments,
  listSegmentsById,
  pageSegments,
} from "../../../src/store/index-database/segments.ts";
import { indexObject } from "../../../src/store/index-object.ts";
import { sourceKey } from "../../../src/store/r2/object-keys.ts";
import { getTranscript } from "../../../src/store/transcripts.ts";
import { deleteVectors, getVectors, queryVectors } from "../../../src/store/vectorize/vectors.ts";

/** Types that the compiler must reject: `tsc` fails if it accepts any of them. Never run. */
void ((env: Env, text: string, account: AccountId, index: IndexId, asset: AssetId) => {
  const { DB: db, TEXT_VECTORS_1: space } = env;
  const content = indexDatabase(env, { indexId: index, shard: 0 });
  const page = { limit: 1, after: text };
  return [
    // Text is accepted where the owner's id limits the lookup.
    requireIndex(db, account, text),
    requireAsset(db, index, "video", text),
    requireJob(db, account, text),
    getUpload(db, index, text),
    listSegmentsById(content, asset, [text]),

    // @ts-expect-error -- text isn't an account id
    requireIndex(db, text, text),
    // @ts-expect-error -- text isn't an account id
    listIndices(db, text, page),
    // @ts-expect-error -- text isn't an account id
    requireJob(db, text, text),
    // @ts-expect-error -- text isn't an index id
    requireAsset(db, text, "video", text),
    // @ts-expect-error -- text isn't an index id
    listAssets(db, text, {}, page),
    // @ts-expect-error -- text isn't an index id
    getUpload(db, text, text),
    // @ts-expect-error -- text isn't an index id
    queryVectors(space, text, [], 1, {}),
    // @ts-expect-error -- text isn't an index id
    indexObject(env, text),
    // @ts-expect-error -- text isn't an asset id
    getAsset(db, text),
    // @ts-expect-error -- text isn't an asset id
    updateProperties(db, text, {}),
    // @ts-expect-error -- text isn't an asset id
    deleteAssetRows(db, [{ indexId: index, assetId: text }]),
    // @ts-expect-error -- text isn't an asset id
    listSegments(db, text, 0, 1),
    // @ts-expect-error -- text isn't an asset id
    listSegmentsById(db, text, [text]),
    // @ts-expect-error -- text isn't an asset id
    pageSegments(db, text, page),
    // @ts-expect-error -- text isn't an asset id
    getTranscript(db, text),
    // @ts-expect-error -- text isn't an asset id
    sourceKey({ accountId: account, indexId: index, assetId: text }),
    // @ts-expect-error -- text isn't a segment id
    getVectors(space, [text], "caption"),
    // @ts-expect-error -- text isn't a vector id
    deleteVectors(space, [text]),
    // @ts-expect-error -- text isn't a vector id, whatever its form
    "seg_1:caption" satisfies VectorId,
    // @ts-expect-error -- text isn't a job id
    claimJob(db, text, 0),
    // @ts-expect-error -- text isn't a job id
    listJobItems(db, text),
    // @ts-expect-error -- text isn't a source id
    getSource(db, text),
    // @ts-expect-error -- text isn't an upload id
    listParts(db, text),
    // @ts-expect-error -- an index id isn't an asset id
    getAsset(db, index),
  ];
});

describe("check-ids", () => {
  it.each<[string, string, RegExp]>([
    ["src/store/new.ts", "export function a(db: D1Database, assetId: string)", /^new.ts a takes/],
    ["src/store/new.ts", "export const b = (ids: readonly string[]) => ids;", /^new.ts b takes/],
    ["src/store/new.ts", "export interface C {\n  jobId?: string;\n}", /^new.ts C takes/],
    [
      "src/store/d1/jobs.ts",
      "async function claimJob(jobId: string | null)",
      /^d1\/jobs.ts claimJob takes/,
    ],
    ["src/routes/new.ts", "getAsset(db, trustedId(params.id));", /^src\/routes\/new.ts marks text/],
    ["src/routes/new.ts", "trustedId<AssetId>(id)", /^src\/routes\/new.ts marks text/],
    ["src/routes/new.ts", "getAsset(db, id as AssetId)", /^src\/routes\/new.ts casts/],
    ["src/routes/new.ts", "z.custom<AssetId>()", /^src\/routes\/new.ts casts/],
    ["src/routes/new.ts", "env.MEDIA_INDEX.getByName(id)", /^src\/routes\/new.ts gets/],
  ])("reports a string used as an id in %s: %s", (file, text, problem) => {
    expect(problemsOf(file, text)).toEqual([expect.stringMatching(problem)]);
  });

  it("reports a lookup of text that isn't checked to be an id", () => {
    const text = "export async function requireJob(db, accountId: AccountId, jobId: string) {}";
    expect(problemsOf("src/store/d1/jobs.ts", text)).toEqual([
      "d1/jobs.ts requireJob looks up text: check it by isIdText first",
    ]);
  });

  it.each<[string, string]>([
    [
      "src/store/d1/jobs.ts",
      "export async function requireJob(db, accountId: AccountId, jobId: string) { isIdText(",
    ],
    ["src/store/new.ts", "export interface Item {\n  platformId: string;\n  rowid: string;\n}"],
    ["src/store/new.ts", "export function a(db: D1Database, assetId: AssetId, ids: SegmentId[])"],
    ["src/routes/new.ts", "function find(assetId: string)"],
    ["src/keys.ts", "const keyId = trustedId<KeyId>(payload.jti);"],
  ])("accepts, in %s, %s", (file, text) => {
    expect(problemsOf(file, text)).toEqual([]);
  });

  it("reports exemptions that no declaration needs", () => {
    const problems = findLooseIds([["src/keys.ts", "trustedId(id)"]]);
    expect(problems).toContain("scripts/check-ids.ts: d1/jobs.ts requireJob is not needed");
    expect(problems).not.toContain("scripts/check-ids.ts: src/keys.ts is not needed");
  });
});

const problemsOf = (file: string, text: string) =>
  findLooseIds([[file, text]]).filter((problem) => !problem.startsWith("scripts/"));
