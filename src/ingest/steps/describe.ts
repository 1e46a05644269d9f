import { INGEST, MODELS } from "../../config.ts";
import { MAX_DESCRIPTION } from "../../description.ts";
import { failureOf, isRetryable } from "../../errors.ts";
import { maxOf, minOf } from "../../lists.ts";
import { openContainer, requireVideoTrack } from "../../media/container/open-container.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { unreadableFrame } from "../../media/decoder-errors.ts";
import { readImageFacts } from "../../media/exif/capture-facts.ts";
import { decodeFrame } from "../../media/frames.ts";
import { decodeImage } from "../../media/pixels/decode-image.ts";
import { computeSignature } from "../../media/pixels/image-signature.ts";
import { decodeLuma } from "../../media/pixels/jpeg.ts";
import {
  toSignatureSize,
  type LumaImage,
  type Blocks,
  areIdentical,
  toBlocks,
} from "../../media/pixels/luma.ts";
import { reserveCalls } from "../../models/call-limiter.ts";
import { describeImage } from "../../models/describe.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments, updateDescription } from "../../store/index-database/segments.ts";
import { putSignature } from "../../store/index-database/signatures.ts";
import { mediaKey, putKeyframe, sourceKey } from "../../store/r2/object-keys.ts";
import type { Asset, Segment, Description } from "../../types.ts";

export async function describe(env: Env, asset: Asset, part: number, attempt: number) {
  const segments = await listSegmentsOfPart(env, asset, part);
  const undescribed = segments.filter(({ described }) => !described);
  await describeSegments(env, asset, undescribed, attempt);
}

/**
 * Extracts the keyframes of segments and has the vision model describe them; one that shows the
 * same as another has its description. A failure that no retry can change is recorded on the
 * segment, with an image's alternative text as caption. Throws `account_full`.
 */
export async function describeSegments(
  env: Env,
  asset: Asset,
  segments: Segment[],
  attempt: number,
): Promise<void> {
  const db = indexDatabase(env, asset);
  await reserveCalls(env.AI, MODELS.describe.id, segments.length); // before frames are extracted
  const images: { blocks: Blocks; described: Promise<Description> }[] = [];
  await forEachKeyframe(env, asset, segments, async (segment, extract) => {
    try {
      const jpeg = await extract();
      const blocks = toBlocks(await storeKeyframe(env, asset, segment, jpeg));
      let image = images.find((earlier) => areIdentical(earlier.blocks, blocks));
      if (!image) {
        image = { blocks, described: describeImage(env.AI, jpeg) };
        images.push(image);
      }
      const description = await image.described;
      const texts = [altTextSentence(asset), description.caption].filter(Boolean);
      const caption = texts.join(" ").slice(0, MAX_DESCRIPTION.characters);
      await updateDescription(db, segment.segmentId, { ...description, caption });
    } catch (error) {
      const { code } = failureOf(error);
      if (isRetryable(error, attempt) || code === "account_full") throw error;
      const outcome = { error: failureOf(error), caption: altTextSentence(asset) };
      await updateDescription(db, segment.segmentId, outcome);
    }
  });
}

/** Returns the author's alternative text of an image as a sentence, or the empty string. */
function altTextSentence({ assetType, source }: Asset): string {
  const text = assetType === "image" ? (source.alt_text ?? "").trim() : "";
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function listSegmentsOfPart(
  env: Pick<Env, "INDEX_DATABASE">,
  asset: Asset,
  part: number,
): Promise<Segment[]> {
  const [from, to] = [part, part + 1].map((one) => one * INGEST.segmentsPerPart);
  return listSegments(indexDatabase(env, asset), asset.assetId, from, to);
}

/**
 * Calls `handle` for each segment, `INGEST.frameConcurrency` at a time for a video. `extract` makes
 * the segment's keyframe from the source file, as a JPEG. Throws what opening the file throws,
 * `source_missing` among others, and what `handle` throws.
 */
export async function forEachKeyframe(
  env: Env,
  asset: Asset,
  segments: Segment[],
  handle: (segment: Segment, extract: () => Promise<Uint8Array>) => Promise<void>,
): Promise<void> {
  if (segments.length === 0) return;
  if (asset.assetType === "image") {
    const jpeg = await imageKeyframe(env, asset);
    await Promise.all(segments.map((segment) => handle(segment, async () => jpeg)));
    return;
  }
  const times = segments.map(({ keyframeMs }) => keyframeMs / 1000);
  const range = { start: minOf(times), end: maxOf(times) };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  const extract = async ({ keyframeMs }: Segment) => {
    return decodeFrame(env, requireVideoTrack(input), keyframeMs / 1000);
  };
  for (let i = 0; i < segments.length; i += INGEST.frameConcurrency) {
    const batch = segments.slice(i, i + INGEST.frameConcurrency);
    await Promise.all(batch.map((segment) => handle(segment, () => extract(segment))));
  }
}

/**
 * Stores a segment's keyframe and its signature. Returns the keyframe's pixels. Throws
 * `unreadable_frame` or `unreadable_image`.
 */
export async function storeKeyframe(
  env: Env,
  asset: Asset,
  segment: Segment,
  jpeg: Uint8Array,
): Promise<LumaImage> {
  const image = await decodeLuma(jpeg).catch((cause: unknown) => {
    const isFrame = asset.assetType === "video" && failureOf(cause).code === "unreadable_image";
    if (isFrame) throw unreadableFrame(cause);
    throw cause;
  });
  await putKeyframe(env.MEDIA, asset, segment.keyframeMs, jpeg);
  const signature = computeSignature(toSignatureSize(image));
  await putSignature(indexDatabase(env, asset), segment.segmentId, signature);
  return image;
}

/** Decodes an image asset into a JPEG and records its facts. Throws `source_missing`. */
async function imageKeyframe(env: Env, asset: Asset): Promise<Uint8Array> {
  const file = await openFile(env.MEDIA, sourceKey(asset));
  const { jpeg, width, height, format } = await decodeImage(env, file);
  const { folder } = asset.technical;
  const technical = { folder, format, ...(await readImageFacts(file, format)) };
  await updateProperties(env.DB, asset.assetId, { width, height, technical });
  return jpeg;
}
