import { MODELS } from "../../config.ts";
import { MAX_DESCRIPTION } from "../../description.ts";
import { failureOf, isRetryable } from "../../errors.ts";
import { type Blocks, areIdentical, toBlocks } from "../../media/pixels/identical-images.ts";
import { reserveCalls } from "../../models/call-limiter.ts";
import { describeImage } from "../../models/describe.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { updateDescription } from "../../store/index-database/segments.ts";
import type { Asset, Description, Segment } from "../../types.ts";
import { forEachKeyframe, storeKeyframe } from "../extract-keyframes.ts";
import { listSegmentsOfPart } from "./part-segments.ts";

/** Describes the keyframes of one part's segments that aren't described yet. */
export async function describe(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
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
  await forEachKeyframe(env, asset, segments, async (segment, extract, otherJpeg) => {
    try {
      if (otherJpeg) await reserveCalls(env.AI, MODELS.describe.id, 1);
      const jpeg = await extract();
      const blocks = toBlocks(await storeKeyframe(env, asset, segment, jpeg));
      let image = images.find((earlier) => areIdentical(earlier.blocks, blocks));
      if (!image) {
        image = { blocks, described: describeImage(env.AI, jpeg) };
        images.push(image);
      }
      const description = await image.described;
      const other = otherJpeg && (await describeImage(env.AI, otherJpeg));
      const text = other ? mergeLines(description.text, other.text) : description.text;
      const texts = [altTextSentence(asset), description.caption].filter(Boolean);
      const caption = texts.join(" ").slice(0, MAX_DESCRIPTION.characters);
      await updateDescription(db, segment.segmentId, { ...description, text, caption });
    } catch (error) {
      const { code } = failureOf(error);
      if (isRetryable(error, attempt) || code === "account_full") throw error;
      const outcome = { error: failureOf(error), caption: altTextSentence(asset) };
      await updateDescription(db, segment.segmentId, outcome);
    }
  });
}

/** Adds the lines of another text that the first one hasn't. */
function mergeLines(text: string, other: string): string {
  const lines = text.split("\n").filter(Boolean);
  const added = other.split("\n").filter((line) => line !== "" && !lines.includes(line));
  return [...lines, ...added].join("\n").slice(0, MAX_DESCRIPTION.characters);
}

/** Returns the author's alternative text of an image as a sentence, or the empty string. */
function altTextSentence({ assetType, source }: Asset): string {
  const text = assetType === "image" ? (source.alt_text ?? "").trim() : "";
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}
