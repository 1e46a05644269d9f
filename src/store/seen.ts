import type { Asset, SmallStill, Transition } from "../types.ts";
import { deletePrefix, seenPrefix } from "./media.ts";

/** What was seen in a stretch of a video: nothing where it can't be decoded. */
export interface SeenStretch {
  stills: SmallStill[];
  transitions: Transition[];
  /** Of FRAMES, that it took. */
  operations: number;
}

/** Keeps what was seen, with the grey pixels of its stills, in place of what was before. */
export async function putSeen(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  { greys, ...seen }: SeenStretch & { greys: readonly Uint8Array[] },
): Promise<void> {
  await bucket.put(greysKey(asset, part), Buffer.concat(greys));
  await bucket.put(seenKey(asset, part), JSON.stringify(seen));
}

/** Null where nobody has looked, or the ingest is over. */
export async function getSeen(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<SeenStretch | null> {
  const object = await bucket.get(seenKey(asset, part));
  return object && object.json<SeenStretch>();
}

/** The grey pixels of the stills of a stretch, in their order, those of one after those of another. */
export async function getGreys(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<Uint8Array | null> {
  const object = await bucket.get(greysKey(asset, part));
  return object && object.bytes();
}

/** All that was seen of an asset is forgotten. */
export function dropSeen(bucket: R2Bucket, asset: Asset): Promise<void> {
  return deletePrefix(bucket, seenPrefix(asset));
}

function seenKey(asset: Asset, part: number): string {
  return `${seenPrefix(asset)}${part}.json`;
}

function greysKey(asset: Asset, part: number): string {
  return `${seenPrefix(asset)}${part}.grey`;
}
