import { deleteAssetRow, listAssetIds } from "../store/assets.ts";
import { deleteIndexRow } from "../store/indices.ts";
import { assetPrefix, deletePrefix } from "../store/media.ts";
import { listSegments } from "../store/segments.ts";
import { deleteVectors, regionIds, vectorId } from "../store/vectors.ts";
import { TEXT_KINDS } from "../types.ts";

const PAGE = 100;

interface Owner {
  accountId: string;
  indexId: string;
}

/**
 * Removes an asset's vectors, objects and rows, in this order: the rows, which name the rest, go last,
 * so that an interrupted removal can be done again.
 */
export async function purgeAsset(env: Env, owner: Owner, assetId: string): Promise<void> {
  for (let from = 0; ; from += PAGE) {
    const segments = await listSegments(env.DB, assetId, from, from + PAGE);
    if (segments.length === 0) break;
    const ids = segments.map(({ segmentId }) => segmentId);
    await deleteVectors(env.TEXT_VECTORS, ids.flatMap(textIds));
    await deleteVectors(env.PICTURE_VECTORS, ids.flatMap(pictureIds));
  }
  await deletePrefix(env.MEDIA, assetPrefix({ ...owner, assetId }));
  await deleteAssetRow(env.DB, assetId);
}

function textIds(segmentId: string): string[] {
  return TEXT_KINDS.map((kind) => vectorId(segmentId, kind));
}

function pictureIds(segmentId: string): string[] {
  return [vectorId(segmentId, "picture"), ...regionIds(segmentId)];
}

/** Removes an index and all that is in it. `progressed` hears the number of assets removed so far. */
export async function purgeIndex(
  env: Env,
  owner: Owner,
  progressed: (assets: number) => Promise<void>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const ids = await listAssetIds(env.DB, owner.indexId, PAGE);
    if (ids.length === 0) break;
    for (const assetId of ids) await purgeAsset(env, owner, assetId);
    removed += ids.length;
    await progressed(removed);
  }
  await deleteIndexRow(env.DB, owner.indexId);
  return removed;
}
