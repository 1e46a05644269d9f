import { workingCopyOf } from "../../derived-media.ts";
import {
  type AccountId,
  type AssetId,
  type IndexId,
  type JobId,
  trustedId,
  type UploadId,
} from "../../ids.ts";
import { append } from "../../lists.ts";
import type { Asset, AssetRef } from "../../types.ts";

/** Prefix of all keys of an asset, which its deletion deletes. */
export const assetPrefix = ({ assetId, ...index }: AssetRef) => `${indexPrefix(index)}${assetId}/`;

export const indexPrefix = ({ accountId, indexId }: Omit<AssetRef, "assetId">) =>
  `${accountId}/${indexId}/`;

export const sourceKey = (asset: AssetRef) => `${assetPrefix(asset)}source`;

/** Key of the working copy of a video, an MP4 (`src/derived-media.ts`). */
export const workingCopyKey = (asset: AssetRef) => `${assetPrefix(asset)}working-copy`;

/** Key of the file that is read and played: the working copy, if there is one. */
export function mediaKey(asset: AssetRef & Pick<Asset, "technical">): string {
  return workingCopyOf(asset) ? workingCopyKey(asset) : sourceKey(asset);
}

/** Prefix of what a conversion makes, which is deleted when the parts are joined. */
export const conversionPrefix = (asset: AssetRef) => `${assetPrefix(asset)}conversion/`;

/** Key of a piece of a conversion, an MP4. */
export const convertedPartKey = (asset: AssetRef, part: number) =>
  `${conversionPrefix(asset)}${part}.mp4`;

export const conversionPlanKey = (asset: AssetRef) => `${conversionPrefix(asset)}plan.json`;

/** Key of the frame at `ms`: a JPEG, at most `INGEST.keyframeWidth` pixels wide. */
export const keyframeKey = (asset: AssetRef, ms: number) =>
  `${assetPrefix(asset)}keyframes/${ms}.jpg`;

export const isKeyframe = (key: string) => /\/keyframes\/\d+\.jpg$/.test(key);

export async function getKeyframe(bucket: R2Bucket, asset: AssetRef, ms: number) {
  const object = await bucket.get(keyframeKey(asset, ms));
  return object && object.bytes();
}

export function putKeyframe(bucket: R2Bucket, asset: AssetRef, ms: number, jpeg: Uint8Array) {
  return putObject(bucket, keyframeKey(asset, ms), jpeg, "image/jpeg");
}

export const asrKey = (asset: AssetRef, part: number) => `${asrPrefix(asset)}${part}.json`;

export const asrPrefix = (asset: AssetRef) => `${assetPrefix(asset)}asr/`;

/** Prefix of the window analyses of a video, which are deleted when its ingest ends. */
export const analysisPrefix = (asset: AssetRef) => `${assetPrefix(asset)}analysis/`;

/** Key of the storyboard of a video, a JPEG. */
export const storyboardKey = (asset: AssetRef) => `${assetPrefix(asset)}storyboard.jpg`;

/** Key of the reference frames of a window of a video: `store/r2/reference-frames.ts`. */
export const referenceFramesKey = (asset: AssetRef, window: number) =>
  `${assetPrefix(asset)}reference-frames/${window}.bin`;

/** Key of the frame signatures of a window of a video: `store/r2/frame-signatures.ts`. */
export const frameSignaturesKey = (asset: AssetRef, window: number) =>
  `${assetPrefix(asset)}frame-signatures/${window}.json`;

/** Key of a transcript's cues, JSON: of the transcript uploaded by `job`, or of the ingest's. */
export function transcriptKey(asset: AssetRef, job: JobId | null): string {
  return `${assetPrefix(asset)}${job === null ? "transcript" : `transcripts/${job}`}.json`;
}

/** Key of a query clip. The bucket's lifecycle rule deletes clips that a search didn't. */
export const queryClipKey = (indexId: IndexId, clipId: UploadId) =>
  `${clipPrefix(indexId)}${clipId}`;

/** Key of a line of an archive while it is imported. It expires as query clips do. */
export const archiveLineKey = (indexId: IndexId, jobId: JobId, line: number) =>
  `${clipPrefix(indexId)}${jobId}/${line}.json`;

export async function deleteArchiveLines(
  bucket: R2Bucket,
  { indexId, jobId, lineCount }: { indexId: IndexId; jobId: JobId; lineCount: number },
): Promise<void> {
  const keys = Array.from({ length: lineCount }, (_, line) => archiveLineKey(indexId, jobId, line));
  await deleteObjectKeys(bucket, keys);
}

export const clipPrefix = (indexId: IndexId) => `clips/${indexId}/`;

/** Prefix of the bytes of a resumable upload after its last whole part. */
export const uploadPrefix = (indexId: IndexId, uploadId: UploadId) =>
  `${uploadsPrefix(indexId)}${uploadId}/`;

export const uploadsPrefix = (indexId: IndexId) => `uploads/${indexId}/`;

export interface ChargedTo {
  owner: AssetId | JobId | UploadId;
  /** Null if the key doesn't name the account. */
  accountId: AccountId | null;
}

/**
 * Returns what an object is charged to: its asset, the query clip, or the job of the line of an
 * archive. Null for the tail of an upload, whose row counts it. Throws for any other key.
 */
export function chargedTo(key: string): ChargedTo | null {
  const [prefix, , owner = ""] = key.split("/");
  if (prefix === "uploads") return null;
  if (owner === "") throw new Error("An object belongs to no asset, clip or job");
  const accountId = prefix === "clips" ? null : trustedId<AccountId>(prefix!);
  return { owner: trustedId<AssetId>(owner), accountId };
}

export type StoredObject = Pick<R2Object, "key" | "size" | "uploaded">;

export async function listObjects(bucket: R2Bucket, prefix: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const listed of pages(bucket, { prefix })) append(objects, listed.objects);
  return objects;
}

/** Lists the ids that an index has objects under, page by page. */
export async function* listStoredAssets(bucket: R2Bucket, index: Omit<AssetRef, "assetId">) {
  const prefix = indexPrefix(index);
  for await (const listed of pages(bucket, { prefix, delimiter: "/" })) {
    yield listed.delimitedPrefixes.map((key) => trustedId<AssetId>(key.slice(prefix.length, -1)));
  }
}

async function* pages(bucket: R2Bucket, options: R2ListOptions): AsyncGenerator<R2Objects> {
  let listed: R2Objects | null = null;
  do {
    const cursor: string | undefined = listed?.truncated ? listed.cursor : undefined;
    listed = await bucket.list({ ...options, ...(cursor !== undefined && { cursor }) });
    yield listed;
  } while (listed.truncated);
}

/** Deletes objects, 1,000 at a time. Calls `onDeleted` between two of these pages. */
export async function deletePrefix(
  bucket: R2Bucket,
  prefix: string,
  onDeleted: () => Promise<void> = async () => {},
): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
    await onDeleted();
  }
}

/** R2 takes 1000 keys a call. */
export async function deleteObjectKeys(bucket: R2Bucket, keys: string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 1000) await bucket.delete(keys.slice(i, i + 1000));
}

export async function putObject(
  bucket: R2Bucket,
  key: string,
  value: string | Uint8Array,
  contentType?: string,
): Promise<void> {
  await bucket.put(key, value, contentType === undefined ? {} : { httpMetadata: { contentType } });
}

export function headObject(bucket: R2Bucket, key: string): Promise<R2Object | null> {
  return bucket.head(key);
}

/** Returns an object, or null if it is missing. `range` is in bytes; without it, all of them. */
export function getObject(
  bucket: R2Bucket,
  key: string,
  range?: { offset: number; length: number },
): Promise<R2ObjectBody | null> {
  return bucket.get(key, range ? { range } : {});
}

export async function getJson<Value>(bucket: R2Bucket, key: string): Promise<Value | null> {
  const object = await bucket.get(key);
  return object && object.json<Value>();
}
