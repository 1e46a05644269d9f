import { mapConcurrent } from "../concurrency.ts";
import { LOCALIZATION } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import { log } from "../log.ts";
import type { Size } from "../media/pixels/rect.ts";
import { foregroundMask } from "../media/pixels/foreground.ts";
import { readImageSize } from "../media/pixels/image-size.ts";
import { detect } from "../models/detect.ts";
import { getKeyframe } from "../store/object-keys.ts";
import type { BoundingBox, Mask } from "../types.ts";
import { boxesForTerms, visualScore, toBoxes } from "./boxes.ts";
import { encodeRle } from "./coco-rle.ts";
import type { CompiledQuery } from "./compiled-query.ts";
import type { Hit } from "./hits.ts";
import { planMask, pasteMask } from "./mask-layout.ts";
import type { SearchRequest } from "./request.ts";

type LocalizableHit = Pick<Hit, "segment" | "asset" | "score" | "evidence">;

type LocalizationOptions = Pick<SearchRequest, "useBoxes" | "useMasks">;

/** Boxes and mask of what the query names in a hit. */
interface Localization {
  /** Null unless requested. */
  boxes: BoundingBox[] | null;
  /** Null unless requested, or if there is none. */
  mask: Mask | null;
}

interface LocalizationTask<T> {
  hit: T;
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
 * Adds boxes and masks of what the query names to a page of hits. Boxes are the stored ones with a
 * label in the query, best score first; otherwise a detection model's, for hits with visual
 * evidence and a score near the best. The mask is the foreground in the first box. Takes at most
 * `LOCALIZATION.timeoutMs` and never throws: a failed or late hit gets no boxes or mask.
 */
export async function localizeHits<T extends LocalizableHit>(
  env: Env,
  hits: T[],
  query: CompiledQuery,
  options: LocalizationOptions,
): Promise<(Omit<T, keyof Localization> & Localization)[]> {
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
function planTasks<T extends LocalizableHit>(
  hits: T[],
  { labelWords, targetPhrase }: CompiledQuery,
  { useMasks }: LocalizationOptions,
): LocalizationTask<T>[] {
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
  { segment, asset }: LocalizableHit,
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
