import { getAsset } from "./d1/assets.ts";
import {
  beginUploadRemoval,
  deleteUploadRow,
  listParts,
  type Upload,
  type UploadTarget,
} from "./d1/uploads.ts";
import { assetPrefix, deletePrefix, uploadPrefix } from "./r2/object-keys.ts";
import { multipartKey, resumeMultipart } from "./r2/upload-objects.ts";

/**
 * Assembles the committed parts into one object. Safe to repeat: if the multipart upload is
 * complete, the object exists with the length of the upload.
 */
export async function completeMultipart(
  env: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
  target: UploadTarget,
): Promise<void> {
  const parts = await listParts(env.DB, upload.uploadId);
  try {
    await resumeMultipart(env.MEDIA, upload, target).complete(parts);
  } catch (error) {
    const object = await env.MEDIA.head(multipartKey(upload, target));
    if (object?.size !== upload.received) throw error;
  }
}

/**
 * Removes an upload: its parts, its tail and its rows. Its asset stays. Deletes the upload's row
 * last, so that an interrupted removal can be repeated.
 */
export async function removeUpload(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
): Promise<void> {
  const { uploadId, indexId, target, resultAssetId } = upload;
  await beginUploadRemoval(DB, uploadId, Date.now());
  if (target && resultAssetId === null) {
    await resumeMultipart(MEDIA, upload, target).abort().catch(ignoreEnded);
    if (!(await getAsset(DB, target.assetId))) {
      await deletePrefix(MEDIA, assetPrefix({ ...upload, assetId: target.assetId }));
    }
  }
  await deletePrefix(MEDIA, uploadPrefix(indexId, uploadId));
  await deleteUploadRow(DB, uploadId);
}

/** Ignores that a multipart upload can't be aborted: it was completed or aborted before. */
function ignoreEnded(): void {}
