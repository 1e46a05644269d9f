import { LIFECYCLE } from "../../config.ts";
import { failureOf } from "../../errors.ts";
import type { AssetId } from "../../ids.ts";
import { areTalliesCorrect, recountTallies } from "../../store/d1/tallies.ts";
import { indexDatabases } from "../../store/index-database/index-database.ts";
import { listOrphanAssets } from "../../store/mirror.ts";
import type { StoredArchive } from "../../store/r2/archive-record.ts";
import {
  archiveKey,
  assetPrefix,
  clipPrefix,
  deleteObjectKeys,
  listObjects,
  type StoredObject,
} from "../../store/r2/object-keys.ts";
import type { IndexRef } from "../../types.ts";
import { type Finding, findingAbout, type IndexFindingCode } from "../findings.ts";
import type { ImageModel } from "../image-model.ts";
import { deleteOrphanVectors, findOrphanVectors } from "../orphan-vectors.ts";
import { purgeOrphanAssets } from "../purge.ts";
import type { Checkpoint } from "../slice.ts";
import { findUnrecordedAssets, restoreAssets } from "../unrecorded-assets.ts";

export type IndexFinding = Finding<IndexFindingCode>;

/** Finds content of an index that belongs to none of its assets, and wrong totals. Read-only. */
export async function inspectIndex(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
  now: number,
): Promise<IndexFinding[]> {
  const { indexId } = index;
  const { restorable, orphaned } = await findUnrecordedAssets(env, index);
  const [areTotalsCorrect, keys, assetIds, vectors] = await Promise.all([
    areTalliesCorrect(env.DB, indexId),
    listOrphanObjects(env, index, orphaned, now),
    Promise.all(indexDatabases(env, index).map((db) => listOrphanAssets(env.DB, db))),
    inspectVectors(env, index, imageModel),
  ]);
  const totalsMismatch: IndexFinding = {
    code: "totals_mismatch",
    message: "The totals of the index aren't the sums over its assets.",
    about: [],
  };
  return [
    ...recordsMissing(restorable),
    ...(areTotalsCorrect ? [] : [totalsMismatch]),
    ...findingAbout<IndexFindingCode>(
      "objects_orphaned",
      keys,
      "One stored object belongs to no asset.",
      (count) => `${count} stored objects belong to no asset.`,
    ),
    ...findingAbout<IndexFindingCode>(
      "segments_orphaned",
      assetIds.flat().filter((id) => !restorable.some(({ asset_id }) => asset_id === id)),
      "Searches have the segments of one asset without a record.",
      (count) => `Searches have the segments of ${count} assets without a record.`,
    ),
    ...vectors,
  ];
}

/**
 * Finds vectors that belong to no segment. If the account's cost of the day doesn't allow to look
 * for them, that is the finding, and its repair looks again.
 */
async function inspectVectors(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<IndexFinding[]> {
  try {
    return findingAbout<IndexFindingCode>(
      "vectors_orphaned",
      await findOrphanVectors(env, index, imageModel),
      "One vector belongs to no segment.",
      (count) => `${count} vectors or more belong to no segment.`,
    );
  } catch (error) {
    const { code, message } = failureOf(error);
    if (code !== "cost_limit_reached") throw error;
    return [{ code: "vectors_orphaned", message, about: [] }];
  }
}

/** Finds the assets whose row in D1 is lost, and which their archive record can restore. */
export async function inspectRecords(env: Env, index: IndexRef): Promise<IndexFinding[]> {
  return recordsMissing((await findUnrecordedAssets(env, index)).restorable);
}

function recordsMissing(records: StoredArchive[]): IndexFinding[] {
  return findingAbout<IndexFindingCode>(
    "records_missing",
    records.map(({ asset_id }) => asset_id),
    "One stored asset has lost its row.",
    (count) => `${count} stored assets or more have lost their rows.`,
  );
}

/**
 * Lists the keys of the objects of `assetIds`, and of query clips. Leaves out objects younger than
 * `LIFECYCLE.minOrphanAgeMs`, since an upload is stored before its row is written, but no archive
 * record: it comes after the row, and must not outlive what knows of a deletion.
 */
async function listOrphanObjects(
  { MEDIA }: Pick<Env, "MEDIA">,
  index: IndexRef,
  assetIds: AssetId[],
  now: number,
): Promise<string[]> {
  const orphans: StoredObject[] = await listObjects(MEDIA, clipPrefix(index.indexId));
  for (const assetId of assetIds) {
    orphans.push(...(await listObjects(MEDIA, assetPrefix({ ...index, assetId }))));
  }
  const archives = new Set(assetIds.map((assetId) => archiveKey({ ...index, assetId })));
  const isOld = (uploaded: Date) => now - uploaded.getTime() > LIFECYCLE.minOrphanAgeMs;
  const deletable = orphans.filter(({ key, uploaded }) => archives.has(key) || isOld(uploaded));
  return deletable.map(({ key }) => key);
}

/** Resolves a finding of an index. May run twice. */
export async function repairIndex(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
  { code, about }: IndexFinding,
  checkpoint: Checkpoint,
): Promise<void> {
  if (code === "totals_mismatch") await recountTallies(env.DB, index.indexId);
  else if (code === "objects_orphaned") await deleteObjectKeys(env.MEDIA, about);
  else if (code === "vectors_orphaned") await deleteOrphanVectors(env, index, imageModel);
  else if (code === "records_missing") {
    await restoreAssets(env, index, (await findUnrecordedAssets(env, index)).restorable);
  } else await purgeOrphanAssets(env, index, checkpoint);
}
