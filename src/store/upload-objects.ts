import { getAsset } from "./assets.ts";
import { assetPrefix, deletePrefix, sourceKey, uploadPrefix } from "./media.ts";
import {
  beginUploadRemoval,
  deleteUploadRow,
  listParts,
  type Target,
  type Upload,
} from "./uploads.ts";

/** The place of the whole, once that is known. */
function wholeKey(upload: Upload, { assetId }: Pick<Target, "assetId">): string {
  return sourceKey({ ...upload, assetId });
}

/** Takes what is put there part by part. */
export function createWhole(
  bucket: R2Bucket,
  upload: Upload,
  target: Pick<Target, "assetId" | "contentType">,
): Promise<R2MultipartUpload> {
  return bucket.createMultipartUpload(wholeKey(upload, target), {
    httpMetadata: { contentType: target.contentType },
  });
}

export function openWhole(bucket: R2Bucket, upload: Upload, target: Target): R2MultipartUpload {
  return bucket.resumeMultipartUpload(wholeKey(upload, target), target.storageId);
}

/** Makes one object of the parts; again, it changes nothing. */
export async function completeWhole(
  env: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
  target: Target,
): Promise<void> {
  const parts = await listParts(env.DB, upload.uploadId);
  try {
    await openWhole(env.MEDIA, upload, target).complete(parts);
  } catch (error) {
    const there = await env.MEDIA.head(wholeKey(upload, target));
    if (there?.size !== upload.received) throw error;
  }
}

/** What came behind the last whole part, into the beginning of `part`; resolves to how much that is. */
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

/** Resolves to the key; each request has its own. */
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
 * Ends an upload: its parts, its tail, its rows. The asset that it became stays. What has the upload's id goes
 * last, so that an interrupted removal can be done again.
 */
export async function removeUpload(
  { DB, MEDIA }: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
): Promise<void> {
  const { uploadId, indexId, target, became } = upload;
  await beginUploadRemoval(DB, uploadId, Date.now());
  if (target && became === null) {
    // It may be complete, or gone.
    await openWhole(MEDIA, upload, target)
      .abort()
      .catch(() => undefined);
    if (!(await getAsset(DB, target.assetId))) {
      await deletePrefix(MEDIA, assetPrefix({ ...upload, assetId: target.assetId }));
    }
  }
  await deletePrefix(MEDIA, uploadPrefix(indexId, uploadId));
  await deleteUploadRow(DB, uploadId);
}
