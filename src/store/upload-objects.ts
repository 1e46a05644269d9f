import { getAsset } from "./assets.ts";
import { assetPrefix, deletePrefix, sourceKey, uploadPrefix } from "./object-keys.ts";
import {
  beginUploadRemoval,
  deleteUploadRow,
  listParts,
  type UploadTarget,
  type Upload,
} from "./uploads.ts";

/** Key of the asset's source file, which the parts become. */
function multipartKey(upload: Upload, { assetId }: Pick<UploadTarget, "assetId">): string {
  return sourceKey({ ...upload, assetId });
}

/** Begins the multipart upload that the parts go to. */
export function createMultipart(
  bucket: R2Bucket,
  upload: Upload,
  target: Pick<UploadTarget, "assetId" | "contentType">,
): Promise<R2MultipartUpload> {
  return bucket.createMultipartUpload(multipartKey(upload, target), {
    httpMetadata: { contentType: target.contentType },
  });
}

export function resumeMultipart(
  bucket: R2Bucket,
  upload: Upload,
  target: UploadTarget,
): R2MultipartUpload {
  return bucket.resumeMultipartUpload(multipartKey(upload, target), target.storageId);
}

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

/** Reads the bytes after the last whole part into the beginning of `part`. Returns their number. */
export async function readTail(
  bucket: R2Bucket,
  { tail }: Upload,
  part: Uint8Array,
): Promise<number> {
  if (tail === null) return 0;
  const object = await bucket.get(tail);
  if (!object) throw new Error("The tail of an upload is gone");
  part.set(await object.bytes());
  return object.size;
}

/** Stores the bytes after the last whole part. Returns the key, which is the request's own. */
export async function putTail(
  bucket: R2Bucket,
  { indexId, uploadId, token }: Upload,
  bytes: Uint8Array,
): Promise<string> {
  const key = `${uploadPrefix(indexId, uploadId)}${token}`;
  await bucket.put(key, bytes);
  return key;
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
    // Fails if the multipart upload is completed or aborted already.
    await resumeMultipart(MEDIA, upload, target)
      .abort()
      .catch(() => undefined);
    if (!(await getAsset(DB, target.assetId))) {
      await deletePrefix(MEDIA, assetPrefix({ ...upload, assetId: target.assetId }));
    }
  }
  await deletePrefix(MEDIA, uploadPrefix(indexId, uploadId));
  await deleteUploadRow(DB, uploadId);
}
