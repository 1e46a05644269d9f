import type { Upload, UploadTarget } from "../d1/uploads.ts";
import { sourceKey, uploadPrefix } from "./object-keys.ts";

/** Key of the asset's source file, which the parts become. */
export function multipartKey(upload: Upload, { assetId }: Pick<UploadTarget, "assetId">): string {
  return sourceKey({ ...upload, assetId });
}

/** Begins the multipart upload that the parts go to, which count as the upload's. */
export async function createMultipart(
  bucket: R2Bucket,
  upload: Upload,
  target: Pick<UploadTarget, "assetId" | "contentType">,
): Promise<R2MultipartUpload> {
  const key = multipartKey(upload, target);
  const httpMetadata = { contentType: target.contentType };
  const { uploadId } = await bucket.createMultipartUpload(key, { httpMetadata });
  return bucket.resumeMultipartUpload(key, uploadId);
}

export function resumeMultipart(
  bucket: R2Bucket,
  upload: Upload,
  target: UploadTarget,
): R2MultipartUpload {
  return bucket.resumeMultipartUpload(multipartKey(upload, target), target.storageId);
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
