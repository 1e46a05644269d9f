import * as z from "zod";
import { boundedList } from "../../bounded-list.ts";
import { parseJsonText } from "../../json-parse.ts";
import { SIGNATURE } from "../../parameters.ts";
import type { Asset, Segment } from "../../types.ts";
import type { FrameSignature } from "../index-database/signatures.ts";
import { frameSignaturesKey } from "./object-keys.ts";

const THUMBNAIL_BYTES = SIGNATURE.thumbnailSide ** 2;
/** Hashes of a signature: two of each of its ten areas. */
const MAX_HASHES = 20;
/** Segments that begin in a window, each with `COPY_DETECTION.maxFrameSignatures`. */
const MAX_SIGNATURES = 20_000;

/** Signature of a frame of the segment at `position`. Makes the rows of `signatures` again. */
const frameSignature = z.object({
  position: z.int().min(0),
  ms: z.int().min(0),
  hashes: boundedList(z.int().min(0).max(0xffff_ffff), MAX_HASHES),
  /** Base64. */
  luma_thumbnail: z
    .base64()
    .length(4 * Math.ceil(THUMBNAIL_BYTES / 3))
    .refine((text) => Buffer.from(text, "base64").length === THUMBNAIL_BYTES),
});
const frameSignatures = boundedList(frameSignature, MAX_SIGNATURES);
export type ArchivedFrameSignature = z.infer<typeof frameSignature>;

export async function putArchivedSignatures(
  bucket: R2Bucket,
  asset: Asset,
  window: number,
  segments: Pick<Segment, "segmentId" | "position">[],
  signatures: FrameSignature[],
): Promise<void> {
  const positions = new Map(segments.map(({ segmentId, position }) => [segmentId, position]));
  const archived = signatures.map(({ segmentId, ms, signature }): ArchivedFrameSignature => {
    const luma_thumbnail = Buffer.from(signature.lumaThumbnail).toString("base64");
    return { position: positions.get(segmentId)!, ms, hashes: signature.hashes, luma_thumbnail };
  });
  await bucket.put(frameSignaturesKey(asset, window), JSON.stringify(archived));
}

/** Parses the frame signatures of a window; null for other text. */
export function parseFrameSignatures(text: string): ArchivedFrameSignature[] | null {
  const parsed = parseJsonText(text);
  return ("value" in parsed && frameSignatures.safeParse(parsed.value).data) || null;
}

/** Returns the frame signatures of a window; none if they were never stored, or are damaged. */
export async function getArchivedSignatures(bucket: R2Bucket, asset: Asset, window: number) {
  const object = await bucket.get(frameSignaturesKey(asset, window));
  return object ? (parseFrameSignatures(await object.text()) ?? []) : [];
}
