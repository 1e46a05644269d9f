import type { IndexId, JobId, UploadId } from "../ids.ts";
import type { Asset } from "../types.ts";

/** Whose objects: every key of an asset starts with its prefix, so that deleting it is deleting that. */
type Owner = Pick<Asset, "accountId" | "indexId" | "assetId">;

export function assetPrefix({ assetId, ...index }: Owner): string {
  return `${indexPrefix(index)}${assetId}/`;
}

/** Of all assets of an index. */
export function indexPrefix({ accountId, indexId }: Omit<Owner, "assetId">): string {
  return `${accountId}/${indexId}/`;
}

/** The bytes as they came. */
export function sourceKey(asset: Owner): string {
  return `${assetPrefix(asset)}source`;
}

/** A JPEG, at most `INGEST.keyframeWidth` wide, of the frame shown at `ms`. */
export function keyframeKey(asset: Owner, ms: number): string {
  return `${keyframePrefix(asset)}${ms}.jpg`;
}

export function keyframePrefix(asset: Owner): string {
  return `${assetPrefix(asset)}keyframes/`;
}

/** Null where there is none. */
export async function getKeyframe(
  bucket: R2Bucket,
  asset: Owner,
  ms: number,
): Promise<Uint8Array | null> {
  const object = await bucket.get(keyframeKey(asset, ms));
  return object && object.bytes();
}

/** What was heard in one piece of the sound, as JSON. */
export function heardKey(asset: Owner, part: number): string {
  return `${heardPrefix(asset)}${part}.json`;
}

export function heardPrefix(asset: Owner): string {
  return `${assetPrefix(asset)}heard/`;
}

/** What a video looks like, as long as it is ingested. */
export function seenPrefix(asset: Owner): string {
  return `${assetPrefix(asset)}seen/`;
}

/** The cues of a transcript, as JSON: of what a job is to put in, or of what the ingest did. */
export function transcriptKey(asset: Owner, job: JobId | null): string {
  return `${assetPrefix(asset)}${job === null ? "transcript" : `transcripts/${job}`}.json`;
}

/** A clip that is a query, as long as it is looked at: what is left over, the bucket's lifecycle removes. */
export function clipKey(indexId: IndexId, clipId: UploadId): string {
  return `${clipPrefix(indexId)}${clipId}`;
}

export function clipPrefix(indexId: IndexId): string {
  return `clips/${indexId}/`;
}

/** What has come of a resumable upload behind its last whole part. */
export function uploadPrefix(indexId: IndexId, uploadId: UploadId): string {
  return `${uploadsPrefix(indexId)}${uploadId}/`;
}

export function uploadsPrefix(indexId: IndexId): string {
  return `uploads/${indexId}/`;
}

/** An object of the bucket, by name. */
export type StoredObject = Pick<R2Object, "key" | "size" | "uploaded">;

export async function listObjects(bucket: R2Bucket, prefix: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const listed of pages(bucket, { prefix })) objects.push(...listed.objects);
  return objects;
}

/** The folders in a folder, both ending in a slash, a page at a time. */
export async function* listFolders(bucket: R2Bucket, prefix: string): AsyncGenerator<string[]> {
  for await (const listed of pages(bucket, { prefix, delimiter: "/" })) {
    yield listed.delimitedPrefixes;
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

export async function deletePrefix(bucket: R2Bucket, prefix: string): Promise<void> {
  let listed: R2Objects;
  do {
    listed = await bucket.list({ prefix });
    if (listed.objects.length > 0) await bucket.delete(listed.objects.map(({ key }) => key));
  } while (listed.truncated);
}

/** R2 takes 1000 keys a call. */
export async function deleteKeys(bucket: R2Bucket, keys: string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 1000) await bucket.delete(keys.slice(i, i + 1000));
}
