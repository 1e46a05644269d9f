import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { COPY_DETECTION, SHOTS } from "../../parameters.ts";
import type { Asset } from "../../types.ts";
import type { AssetTimeRangeMs } from "../index-database/segments.ts";
import { referenceFramesKey } from "./object-keys.ts";

export interface ReferenceFrames {
  /** Presentation times in ms, ascending. */
  times: number[];
  /** `COPY_DETECTION.thumbnailSide`² luma values a frame, one frame after another. */
  lumaThumbnails: Uint8Array;
}

const TIME_BYTES = Uint32Array.BYTES_PER_ELEMENT;
const THUMBNAIL_BYTES = COPY_DETECTION.thumbnailSide ** 2;
/** Frames of a window, and some to spare. */
const MAX_FRAMES = 2 * SHOTS.windowSeconds * COPY_DETECTION.referenceFramesPerSecond;

/** Stores the reference frames of a window: their times as 32-bit integers, then their luma. */
export async function putReferenceFrames(
  bucket: R2Bucket,
  asset: Asset,
  window: number,
  { times, lumaThumbnails }: ReferenceFrames,
): Promise<void> {
  const bytes = Buffer.concat([Buffer.from(Uint32Array.from(times).buffer), lumaThumbnails]);
  await bucket.put(referenceFramesKey(asset, window), bytes);
}

/** Lists the reference frames of the windows that overlap time ranges, in their order. */
export async function listReferenceFrames(
  bucket: R2Bucket,
  index: Pick<Asset, "accountId" | "indexId">,
  ranges: AssetTimeRangeMs[],
): Promise<ReferenceFrames[]> {
  const keys = ranges.flatMap(({ assetId, startMs, endMs }) => {
    const [first, last] = [startMs, endMs].map((ms) => {
      return Math.max(0, Math.floor(ms / (SHOTS.windowSeconds * 1000)));
    });
    return Array.from({ length: last! - first! + 1 }, (_, i) =>
      referenceFramesKey({ ...index, assetId }, first! + i),
    );
  });
  const objects = await mapConcurrent([...new Set(keys)], CONNECTIONS, async (key) => {
    const object = await bucket.get(key);
    return object && object.arrayBuffer();
  });
  return objects.flatMap((bytes) => (bytes && parseReferenceFrames(bytes)) ?? []);
}

/** Parses the reference frames of a window; null for bytes of another length. */
export function parseReferenceFrames(bytes: ArrayBuffer): ReferenceFrames | null {
  const count = bytes.byteLength / (TIME_BYTES + THUMBNAIL_BYTES);
  if (!Number.isInteger(count) || count > MAX_FRAMES) return null;
  return {
    times: [...new Uint32Array(bytes, 0, count)],
    lumaThumbnails: new Uint8Array(bytes, count * TIME_BYTES),
  };
}
