import type { AccountId, AssetId, IndexId } from "../ids.ts";
import { listAssetIds } from "../store/assets.ts";
import { deleteIndexRow } from "../store/indices.ts";
import {
  assetPrefix,
  clipPrefix,
  deletePrefix,
  indexPrefix,
  uploadsPrefix,
} from "../store/media.ts";
import { deleteOrphanRows } from "../store/orphans.ts";
import { beginRemoval, deleteAssetRow } from "../store/removals.ts";
import { listSegments } from "../store/segments.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listIndexUploads } from "../store/upload-lists.ts";
import { forgetVectors } from "../store/vectors.ts";
import { deleteOrphanVectors } from "./orphan-vectors.ts";
import { askPictureSpace } from "./picture-space.ts";

const PAGE = 100;

interface Owner {
  accountId: AccountId;
  indexId: IndexId;
}

/**
 * Removes an asset's vectors, objects and rows, in this order: the rows, which name the rest, go last,
 * so that an interrupted removal can be done again.
 */
export async function purgeAsset(env: Env, owner: Owner, assetId: AssetId): Promise<void> {
  await beginRemoval(env.DB, assetId, Date.now());
  for (let from = 0; ; from += PAGE) {
    const segments = await listSegments(env.DB, assetId, from, from + PAGE);
    if (segments.length === 0) break;
    await forgetVectors(
      env,
      segments.map(({ segmentId }) => segmentId),
    );
  }
  await deletePrefix(env.MEDIA, assetPrefix({ ...owner, assetId }));
  await deleteAssetRow(env.DB, assetId);
}

/**
 * Removes an index, all that is in it, and what was left behind in it. `progressed` hears the number of
 * assets removed so far.
 */
export async function purgeIndex(
  env: Env,
  owner: Owner,
  progressed: (assets: number) => Promise<unknown>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const uploads = await listIndexUploads(env.DB, owner.indexId, PAGE);
    if (uploads.length === 0) break;
    for (const upload of uploads) await removeUpload(env, upload);
  }
  for (;;) {
    const ids = await listAssetIds(env.DB, owner.indexId, PAGE);
    if (ids.length === 0) break;
    for (const assetId of ids) await purgeAsset(env, owner, assetId);
    removed += ids.length;
    await progressed(removed);
  }
  await deleteOrphanVectors(env, owner.indexId, await askPictureSpace(env));
  await deleteOrphanRows(env.DB, owner.indexId);
  await deletePrefix(env.MEDIA, indexPrefix(owner));
  await deletePrefix(env.MEDIA, clipPrefix(owner.indexId));
  await deletePrefix(env.MEDIA, uploadsPrefix(owner.indexId));
  await deleteIndexRow(env.DB, owner.indexId);
  return removed;
}
