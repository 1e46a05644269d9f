import { LIFECYCLE } from "../../config.ts";
import { indexDatabases } from "../../store/index-database.ts";
import {
  clipPrefix,
  deleteObjectKeys,
  indexPrefix,
  listFolders,
  listObjects,
  type StoredObject,
} from "../../store/object-keys.ts";
import { listOrphanAssets } from "../../store/mirror.ts";
import { listMissingAssets } from "../../store/orphans.ts";
import { areTalliesCorrect, recountTallies } from "../../store/tallies.ts";
import type { IndexRef } from "../../types.ts";
import { type Finding, findingAbout, type IndexFindingCode } from "../findings.ts";
import type { ImageModel } from "../image-model.ts";
import { purgeOrphanAssets } from "../purge.ts";
import { deleteOrphanVectors, findOrphanVectors } from "../orphan-vectors.ts";

type IndexFinding = Finding<IndexFindingCode>;

/** Finds content of an index that belongs to none of its assets, and wrong totals. Read-only. */
export async function inspectIndex(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
  now: number,
): Promise<IndexFinding[]> {
  const { indexId } = index;
  const [areTotalsCorrect, keys, assetIds, vectors] = await Promise.all([
    areTalliesCorrect(env.DB, indexId),
    listOrphanObjects(env, index, now),
    Promise.all(indexDatabases(env, index).map((db) => listOrphanAssets(env.DB, db))),
    findOrphanVectors(env, index, imageModel),
  ]);
  const totalsMismatch: IndexFinding = {
    code: "totals_mismatch",
    message: "The totals of the index aren't the sums over its assets.",
    about: [],
  };
  return [
    ...(areTotalsCorrect ? [] : [totalsMismatch]),
    ...findingAbout<IndexFindingCode>(
      "objects_orphaned",
      keys,
      "One stored object belongs to no asset.",
      (count) => `${count} stored objects belong to no asset.`,
    ),
    ...findingAbout<IndexFindingCode>(
      "segments_orphaned",
      assetIds.flat(),
      "Searches have the segments of one asset without a record.",
      (count) => `Searches have the segments of ${count} assets without a record.`,
    ),
    ...findingAbout<IndexFindingCode>(
      "vectors_orphaned",
      vectors,
      "One vector belongs to no segment.",
      (count) => `${count} vectors or more belong to no segment.`,
    ),
  ];
}

/**
 * Lists the keys of objects whose asset has no record, and of query clips. Leaves out objects
 * younger than `LIFECYCLE.minOrphanAgeMs`: an upload is stored before its record is written.
 */
async function listOrphanObjects(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  index: IndexRef,
  now: number,
): Promise<string[]> {
  const prefix = indexPrefix(index);
  const orphans: StoredObject[] = await listObjects(MEDIA, clipPrefix(index.indexId));
  for await (const folders of listFolders(MEDIA, prefix)) {
    const ids = folders.map((folder) => folder.slice(prefix.length, -1));
    for (const id of await listMissingAssets(DB, index.indexId, ids)) {
      orphans.push(...(await listObjects(MEDIA, `${prefix}${id}/`)));
    }
  }
  const old = orphans.filter(({ uploaded }) => now - uploaded.getTime() > LIFECYCLE.minOrphanAgeMs);
  return old.map(({ key }) => key);
}

/** Deletes the orphans that a finding of an index names, or corrects its totals. May run twice. */
export async function repairIndex(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
  { code, about }: IndexFinding,
): Promise<void> {
  if (code === "totals_mismatch") await recountTallies(env.DB, index.indexId);
  else if (code === "objects_orphaned") await deleteObjectKeys(env.MEDIA, about);
  else if (code === "vectors_orphaned") await deleteOrphanVectors(env, index, imageModel);
  else await purgeOrphanAssets(env, index);
}
