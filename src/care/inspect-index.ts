import { CARE } from "../config.ts";
import {
  clipPrefix,
  indexPrefix,
  listFolders,
  listObjects,
  type StoredObject,
} from "../store/media.ts";
import { countOrphanRows, listGoneAssets } from "../store/orphans.ts";
import { areTalliesRight } from "../store/tallies.ts";
import type { MediaIndexRow } from "../types.ts";
import { type Finding, findingAbout, type IndexFindingCode } from "./findings.ts";
import { findOrphanVectors } from "./orphan-vectors.ts";
import type { PictureSpace } from "./picture-space.ts";

type IndexFinding = Finding<IndexFindingCode>;
type Owner = Pick<MediaIndexRow, "accountId" | "indexId">;

/** What of an index belongs to none of its assets, and whether its sums are right. Changes nothing. */
export async function inspectIndex(
  env: Env,
  index: Owner,
  space: PictureSpace,
  now: number,
): Promise<IndexFinding[]> {
  const { indexId } = index;
  const [isRight, keys, rows, vectors] = await Promise.all([
    areTalliesRight(env.DB, indexId),
    listOrphanObjects(env, index, now),
    countOrphanRows(env.DB, indexId),
    findOrphanVectors(env, indexId, space),
  ]);
  const counts: IndexFinding = {
    code: "counts_wrong",
    message: "The sums of the index aren't what its assets add up to.",
    about: [],
  };
  return [
    ...(isRight ? [] : [counts]),
    ...findingAbout<IndexFindingCode>(
      "objects_orphaned",
      keys,
      "One stored object belongs to no asset.",
      (n) => `${n} stored objects belong to no asset.`,
    ),
    ...countedRows("words_orphaned", rows.words, "full-text"),
    ...countedRows("signatures_orphaned", rows.signatures, "signature"),
    ...findingAbout<IndexFindingCode>(
      "vectors_orphaned",
      vectors,
      "One vector belongs to no segment.",
      (n) => `${n} vectors or more belong to no segment.`,
    ),
  ];
}

/**
 * The keys of what is stored for assets that aren't on record, and of clips that were queries. What is
 * younger than a day may be under way: an upload is stored before its record is written.
 */
async function listOrphanObjects(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  index: Owner,
  now: number,
): Promise<string[]> {
  const prefix = indexPrefix(index);
  const orphans: StoredObject[] = await listObjects(MEDIA, clipPrefix(index.indexId));
  for await (const folders of listFolders(MEDIA, prefix)) {
    const ids = folders.map((folder) => folder.slice(prefix.length, -1));
    for (const id of await listGoneAssets(DB, index.indexId, ids)) {
      orphans.push(...(await listObjects(MEDIA, `${prefix}${id}/`)));
    }
  }
  const old = orphans.filter(({ uploaded }) => now - uploaded.getTime() > CARE.strayMs);
  return old.map(({ key }) => key);
}

function countedRows(code: IndexFindingCode, count: number, kind: string): IndexFinding[] {
  if (count === 0) return [];
  const message =
    count === 1
      ? `One ${kind} row belongs to no segment.`
      : `${count} ${kind} rows belong to no segment.`;
  return [{ code, message, about: [] }];
}
