import {
  type AccountId,
  type AssetId,
  type IndexId,
  type JobId,
  trustedId,
  type UploadId,
} from "../../ids.ts";
import type { Asset, AssetRef } from "../../types.ts";
import { workingCopyOf } from "../../working-copy.ts";

/** Identifies an asset. All keys of an asset share a prefix, which its deletion deletes. */

export function assetPrefix({ assetId, ...index }: AssetRef): string {
  return `${indexPrefix(index)}${assetId}/`;
}

/** Prefix of all assets of an index. */
export function indexPrefix({ accountId, indexId }: Omit<AssetRef, "assetId">): string {
  return `${accountId}/${indexId}/`;
}

/** Key of the source file. */
export function sourceKey(asset: AssetRef): string {
  return `${assetPrefix(asset)}source`;
}

/** Key of the working copy of a video, an MP4 (`src/working-copy.ts`). */
export function workingCopyKey(asset: AssetRef): string {
  return `${assetPrefix(asset)}working-copy`;
}

/** Key of the file that is read and played: the working copy, if there is one. */
export function mediaKey(asset: AssetRef & Pick<Asset, "technical">): string {
  return workingCopyOf(asset) ? workingCopyKey(asset) : sourceKey(asset);
}

/** Prefix of what a conversion makes, which is deleted when the parts are joined. */
export function conversionPrefix(asset: AssetRef): string {
  return `${assetPrefix(asset)}conversion/`;
}

/** Key of a piece of a conversion, an MP4. */
export function convertedPartKey(asset: AssetRef, part: number): string {
  return `${conversionPrefix(asset)}${part}.mp4`;
}

/** Key of the plan of a conversion: `store/r2/conversion-plan.ts`. */
export function conversionPlanKey(asset: AssetRef): string {
  return `${conversionPrefix(asset)}plan.json`;
}

/** Key of the frame at `ms`: a JPEG, at most `INGEST.keyframeWidth` pixels wide. */
export function keyframeKey(asset: AssetRef, ms: number): string {
  return `${keyframePrefix(asset)}${ms}.jpg`;
}

export function keyframePrefix(asset: AssetRef): string {
  return `${assetPrefix(asset)}keyframes/`;
}

/** Returns a keyframe's JPEG, or null. */
export async function getKeyframe(
  bucket: R2Bucket,
  asset: AssetRef,
  ms: number,
): Promise<Uint8Array | null> {
  const object = await bucket.get(keyframeKey(asset, ms));
  return object && object.bytes();
}

export async function putKeyframe(
  bucket: R2Bucket,
  asset: AssetRef,
  ms: number,
  jpeg: Uint8Array,
): Promise<void> {
  await bucket.put(keyframeKey(asset, ms), jpeg, { httpMetadata: { contentType: "image/jpeg" } });
}

/** Stores the storyboard of a video. Overwrites an earlier one. */
export async function putStoryboard(
  bucket: R2Bucket,
  asset: AssetRef,
  jpeg: Uint8Array,
): Promise<void> {
  await bucket.put(storyboardKey(asset), jpeg, { httpMetadata: { contentType: "image/jpeg" } });
}

/** Key of the recognised speech of an audio chunk, JSON. */
export function asrKey(asset: AssetRef, part: number): string {
  return `${asrPrefix(asset)}${part}.json`;
}

export function asrPrefix(asset: AssetRef): string {
  return `${assetPrefix(asset)}asr/`;
}

/** Prefix of the window analyses of a video, which are deleted when its ingest ends. */
export function analysisPrefix(asset: AssetRef): string {
  return `${assetPrefix(asset)}analysis/`;
}

/** Key of the storyboard of a video, a JPEG: `src/storyboard.ts`. */
export function storyboardKey(asset: AssetRef): string {
  return `${assetPrefix(asset)}storyboard.jpg`;
}

/** Key of the reference frames of a window of a video: `store/r2/reference-frames.ts`. */
export function referenceFramesKey(asset: AssetRef, window: number): string {
  return `${assetPrefix(asset)}reference-frames/${window}.bin`;
}

/** Key of the frame signatures of a window of a video: `store/r2/frame-signatures.ts`. */
export function frameSignaturesKey(asset: AssetRef, window: number): string {
  return `${assetPrefix(asset)}frame-signatures/${window}.json`;
}

/** Key of the archive record: `store/archive.ts`. */
export function archiveKey(asset: AssetRef): string {
  return `${assetPrefix(asset)}asset.json`;
}

/** Key of a transcript's cues, JSON: of the transcript uploaded by `job`, or of the ingest's. */
export function transcriptKey(asset: AssetRef, job: JobId | null): string {
  return `${assetPrefix(asset)}${job === null ? "transcript" : `transcripts/${job}`}.json`;
}

/** Key of a query clip. The bucket's lifecycle rule deletes clips that a search didn't. */
export function queryClipKey(indexId: IndexId, clipId: UploadId): string {
  return `${clipPrefix(indexId)}${clipId}`;
}

/** Key of a line of an archive while it is imported. It expires as query clips do. */
export function archiveLineKey(indexId: IndexId, jobId: JobId, line: number): string {
  return `${clipPrefix(indexId)}${jobId}/${line}.json`;
}

export async function putArchiveLine(
  bucket: R2Bucket,
  key: string,
  line: Uint8Array,
): Promise<void> {
  await bucket.put(key, line);
}

/** Deletes the first `lineCount` lines of an archive. */
export async function deleteArchiveLines(
  bucket: R2Bucket,
  { indexId, jobId, lineCount }: { indexId: IndexId; jobId: JobId; lineCount: number },
): Promise<void> {
  const keys = Array.from({ length: lineCount }, (_, line) => archiveLineKey(indexId, jobId, line));
  await deleteObjectKeys(bucket, keys);
}

export function clipPrefix(indexId: IndexId): string {
  return `clips/${indexId}/`;
}

/** Prefix of the bytes of a resumable upload after its last whole part. */
export function uploadPrefix(indexId: IndexId, uploadId: UploadId): string {
  return `${uploadsPrefix(indexId)}${uploadId}/`;
}

export function uploadsPrefix(indexId: IndexId): string {
  return `uploads/${indexId}/`;
}

/** What the bytes of an object are charged to. */
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

/** A listed object of the bucket. */
export type StoredObject = Pick<R2Object, "key" | "size" | "uploaded">;

export async function listObjects(bucket: R2Bucket, prefix: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const listed of pages(bucket, { prefix })) objects.push(...listed.objects);
  return objects;
}

/** Lists the ids that an index has objects under, page by page. */
export async function* listStoredAssets(
  bucket: R2Bucket,
  index: Omit<AssetRef, "assetId">,
): AsyncGenerator<AssetId[]> {
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

/** Stores a file of an asset that an archive had, under the path that it had there. */
export async function putImportedFile(
  bucket: R2Bucket,
  asset: AssetRef,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const contentType = path.endsWith(".jpg") ? "image/jpeg" : "application/octet-stream";
  await bucket.put(assetPrefix(asset) + path, bytes, { httpMetadata: { contentType } });
}

/** R2 takes 1000 keys a call. */
export async function deleteObjectKeys(bucket: R2Bucket, keys: string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 1000) await bucket.delete(keys.slice(i, i + 1000));
}

/** Returns the metadata of an object, or null if it is missing. */
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
