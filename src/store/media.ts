import type { Asset } from "../types.ts";

/** Whose objects: every key of an asset starts with its prefix, so that deleting it is deleting that. */
type Owner = Pick<Asset, "accountId" | "indexId" | "assetId">;

export function assetPrefix({ accountId, indexId, assetId }: Owner): string {
  return `${accountId}/${indexId}/${assetId}/`;
}

/** The bytes as they came. */
export function sourceKey(asset: Owner): string {
  return `${assetPrefix(asset)}source`;
}

/** A JPEG, at most `INGEST.keyframeWidth` wide, of the frame shown at `ms`. */
export function keyframeKey(asset: Owner, ms: number): string {
  return `${assetPrefix(asset)}keyframes/${ms}.jpg`;
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
  return `${assetPrefix(asset)}heard/${part}.json`;
}

/** The cues of a transcript, as JSON. */
export function transcriptKey(asset: Owner): string {
  return `${assetPrefix(asset)}transcript.json`;
}

/** A clip that is a query, as long as it is looked at: what is left over, the bucket's lifecycle removes. */
export function clipKey(indexId: string, clipId: string): string {
  return `clips/${indexId}/${clipId}`;
}

export async function deletePrefix(bucket: R2Bucket, prefix: string): Promise<void> {
  let listed: R2Objects;
  do {
    listed = await bucket.list({ prefix });
    if (listed.objects.length > 0) await bucket.delete(listed.objects.map(({ key }) => key));
  } while (listed.truncated);
}
