import { z } from "zod";
import type { Asset, Segment } from "../types.ts";
import { frameSignaturesKey } from "./object-keys.ts";
import type { FrameSignature } from "./signatures.ts";

/** Signature of a frame of the segment at `position`. Makes the rows of `signatures` again. */
const frameSignature = z.object({
  position: z.int().min(0),
  ms: z.int().min(0),
  hashes: z.array(z.int().min(0).max(0xffff_ffff)).max(100),
  /** Base64. */
  luma_thumbnail: z.string().max(2000),
});
export type ArchivedFrameSignature = z.infer<typeof frameSignature>;

/** Stores the frame signatures of the segments that begin in a window. */
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

/** Returns the frame signatures of a window; none if they were never stored. */
export async function getArchivedSignatures(
  bucket: R2Bucket,
  asset: Asset,
  window: number,
): Promise<ArchivedFrameSignature[]> {
  const object = await bucket.get(frameSignaturesKey(asset, window));
  return object ? z.array(frameSignature).parse(await object.json()) : [];
}
