import { mapConcurrent } from "../concurrency.ts";
import { LOCALIZATION } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import { log } from "../log.ts";
import { foregroundMask } from "../media/pixels/foreground.ts";
import { readImageSize } from "../media/pixels/image-size.ts";
import { type Size, type PixelRect, expandRect } from "../media/pixels/rect.ts";
import { detect } from "../models/detect.ts";
import { getKeyframe } from "../store/r2/object-keys.ts";
import type { BoundingBox, Mask, Rect } from "../types.ts";
import { boxesForTerms, visualScore, toBoxes } from "./boxes.ts";
import { encodeRle } from "./coco-rle.ts";
import type { Hit } from "./hits.ts";
import type { CompiledQuery } from "./query.ts";
import type { SearchRequest } from "./request.ts";

/** A hit whose boxes and mask are still to be found. */
export type UnlocalizedHit = Omit<Hit, "boxes" | "mask">;

type LocalizationOptions = Pick<SearchRequest, "useBoxes" | "useMasks">;

interface LocalizationTask {
  hit: UnlocalizedHit;
  boxes: BoundingBox[];
  mask: Mask | null;
  /** Phrase for the detection model; null if no call is needed or allowed. */
  target: string | null;
  needsMask: boolean;
}

interface Keyframe extends Size {
  jpeg: Uint8Array;
}

/**
 * Makes the hits of a page: adds boxes and masks of what the query names. Boxes are the stored ones
 * with a label in the query, best score first; otherwise a detection model's, for hits with visual
 * evidence and a score near the best. The mask is the foreground in the first box. Takes at most
 * `LOCALIZATION.timeoutMs` and never throws: a failed or late hit gets no boxes or mask.
 */
export async function localizeHits(
  env: Env,
  hits: UnlocalizedHit[],
  query: CompiledQuery,
  options: LocalizationOptions,
): Promise<Hit[]> {
  const tasks = options.useBoxes || options.useMasks ? planTasks(hits, query, options) : [];
  const pending = tasks.filter(({ target, needsMask }) => target !== null || needsMask);
  await runWithinTimeout(pending, async (task) => {
    const keyframe = await readKeyframe(env, task.hit);
    if (!keyframe) return;
    const { hit, target } = task;
    if (target !== null) {
      task.boxes = toBoxes(await detect(env.AI, keyframe.jpeg, keyframe, target), target, hit);
    }
    const [best] = task.boxes;
    if (best && task.needsMask) task.mask = await computeMask(env.IMAGES, keyframe, best);
  });
  return hits.map((hit, i) => {
    const { boxes = null, mask = null } = tasks[i] ?? {};
    return { ...hit, boxes: options.useBoxes ? boxes : null, mask };
  });
}

/** Makes a task for each hit; model calls and masks are limited per page. */
function planTasks(
  hits: UnlocalizedHit[],
  { labelWords, targetPhrase }: CompiledQuery,
  { useMasks }: LocalizationOptions,
): LocalizationTask[] {
  const minScore = LOCALIZATION.minScoreShare * Math.max(0, ...hits.map(({ score }) => score));
  let detectionCount = 0;
  return hits.map((hit, i) => {
    const boxes = boxesForTerms(hit.segment.boxes, labelWords);
    const needsDetection =
      boxes.length === 0 &&
      visualScore(hit) !== null &&
      targetPhrase !== null &&
      hit.score >= minScore &&
      detectionCount++ < LOCALIZATION.detectionCount;
    const target = needsDetection ? targetPhrase : null;
    const mayHaveBox = needsDetection || boxes.length > 0;
    const needsMask = useMasks && i < LOCALIZATION.maskCount && mayHaveBox;
    return { hit, boxes, mask: null, target, needsMask };
  });
}

/** Returns null for a segment without a keyframe. */
async function readKeyframe(
  env: Env,
  { segment, asset }: UnlocalizedHit,
): Promise<Keyframe | null> {
  if (!segment.hasKeyframe) return null;
  const jpeg = await getKeyframe(env.MEDIA, asset, segment.keyframeMs);
  if (!jpeg) return null;
  const size = readImageSize(jpeg);
  return size ? { jpeg, ...size } : null;
}

async function computeMask(
  images: ImagesBinding,
  keyframe: Keyframe,
  box: BoundingBox,
): Promise<Mask | null> {
  const layout = planMask(keyframe, box);
  const crop = await foregroundMask(images, keyframe.jpeg, layout.inKeyframe, layout.inMask);
  const pixels = pasteMask(layout, crop);
  return pixels && encodeRle(pixels, layout.mask.width, layout.mask.height);
}

/** Runs `work` on a few items at a time until the timeout. Failures are logged. */
async function runWithinTimeout<Item>(
  items: Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const timeout = AbortSignal.timeout(LOCALIZATION.timeoutMs);
  const all = mapConcurrent(items, LOCALIZATION.concurrency, async (item) => {
    if (timeout.aborted) return;
    await work(item).catch((error: unknown) => {
      log("warn", "search.localization_failed", {
        code: failureOf(error).code,
        cause: traceOf(error),
      });
    });
  });
  const timedOut = new Promise((resolve) => timeout.addEventListener("abort", resolve));
  await Promise.race([all, timedOut]);
}

/** Sizes of a mask, and the crop that is segmented: in pixels of the mask and of the keyframe. */
export interface MaskLayout {
  mask: Size;
  inMask: PixelRect;
  inKeyframe: PixelRect;
}

/**
 * Plans a mask of the whole keyframe, scaled to at most `LOCALIZATION.maxMaskSide`. The crop is the
 * box with a margin of `LOCALIZATION.boxMargin` of its longer side, clipped to the frame:
 * segmentation needs some background.
 */
export function planMask(keyframe: Size, box: Rect): MaskLayout {
  const scale = Math.min(1, LOCALIZATION.maxMaskSide / Math.max(keyframe.width, keyframe.height));
  const mask = {
    width: Math.max(1, Math.round(keyframe.width * scale)),
    height: Math.max(1, Math.round(keyframe.height * scale)),
  };
  const inMask = expandRect(box, mask, LOCALIZATION.boxMargin);
  const [scaleX, scaleY] = [keyframe.width / mask.width, keyframe.height / mask.height];
  const left = Math.floor(inMask.left * scaleX);
  const top = Math.floor(inMask.top * scaleY);
  const right = Math.min(keyframe.width, Math.ceil((inMask.left + inMask.width) * scaleX));
  const bottom = Math.min(keyframe.height, Math.ceil((inMask.top + inMask.height) * scaleY));
  return { mask, inMask, inKeyframe: { left, top, width: right - left, height: bottom - top } };
}

/**
 * Pastes the crop's foreground into a mask of the whole keyframe. Null if all or none is
 * foreground.
 */
export function pasteMask({ mask, inMask }: MaskLayout, crop: Uint8Array): Uint8Array | null {
  const share = crop.reduce((sum, value) => sum + Number(value > 0), 0) / crop.length;
  if (share < LOCALIZATION.minMaskShare || share > 1 - LOCALIZATION.minMaskShare) return null;
  const pixels = new Uint8Array(mask.width * mask.height);
  for (let row = 0; row < inMask.height; row++) {
    const line = crop.subarray(row * inMask.width, (row + 1) * inMask.width);
    pixels.set(line, (inMask.top + row) * mask.width + inMask.left);
  }
  return pixels;
}
