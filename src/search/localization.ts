import { mapConcurrent } from "../concurrency.ts";
import { LOCALIZATION } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import { maxOf } from "../lists.ts";
import { log } from "../log.ts";
import { readImageSize } from "../media/pixels/image-size.ts";
import { computeMask } from "../media/pixels/mask.ts";
import type { Size } from "../media/pixels/rect.ts";
import { detect } from "../models/detect.ts";
import { getKeyframe } from "../store/r2/object-keys.ts";
import type { BoundingBox, Mask, Rect } from "../types.ts";
import type { Hit } from "./hits.ts";
import { type CompiledQuery, foldPlural, uniqueWords } from "./query.ts";
import type { SearchRequest } from "./request.ts";

export type UnlocalizedHit = Omit<Hit, "boxes" | "mask">;

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
  { labelWords, targetPhrase }: CompiledQuery,
  { useBoxes, useMasks }: Pick<SearchRequest, "useBoxes" | "useMasks">,
): Promise<Hit[]> {
  if (!useBoxes && !useMasks) {
    return hits.map((hit) => Object.assign(hit, { boxes: null, mask: null }));
  }
  const scores = hits.map(({ score }) => score);
  const minScore = LOCALIZATION.minScoreShare * maxOf(scores, 0);
  let detectionCount = 0;
  const tasks = hits.map((hit, i) => {
    const boxes = boxesForTerms(hit.segment.boxes, labelWords);
    const mayBeDetected = boxes.length === 0 && visualScore(hit) !== null && hit.score >= minScore;
    const isDetected =
      mayBeDetected && targetPhrase !== null && detectionCount++ < LOCALIZATION.detectionCount;
    const needsMask = useMasks && i < LOCALIZATION.maskCount && (isDetected || boxes.length > 0);
    return { hit, boxes, mask: null as Mask | null, isDetected, needsMask };
  });
  const pending = tasks.filter(({ isDetected, needsMask }) => isDetected || needsMask);
  await runWithinTimeout(pending, async (task) => {
    const keyframe = await readKeyframe(env, task.hit);
    if (!keyframe) return;
    if (task.isDetected) {
      const rects = await detect(env.AI, keyframe.jpeg, keyframe, targetPhrase!);
      task.boxes = toBoxes(rects, targetPhrase!, task.hit);
    }
    const [best] = task.boxes;
    if (best && task.needsMask) task.mask = await computeMask(env.IMAGES, keyframe, best);
  });
  return tasks.map(({ hit, boxes, mask }) => {
    return Object.assign(hit, { boxes: useBoxes ? boxes : null, mask });
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

/** Runs `work` on a few items at a time until the timeout. Failures are logged. */
async function runWithinTimeout<Item>(items: Item[], work: (item: Item) => Promise<void>) {
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

/**
 * Returns the boxes with labels whose words are all among the query's, singular or plural, best
 * score first.
 */
export function boxesForTerms(
  boxes: readonly BoundingBox[],
  words: readonly string[],
): BoundingBox[] {
  const stems = new Set(words.map(foldPlural));
  const isNamed = ({ label }: BoundingBox) => {
    const labelWords = uniqueWords(label);
    return labelWords.length > 0 && labelWords.every((word) => stems.has(foldPlural(word)));
  };
  return boxes.filter(isNamed).toSorted((a, b) => b.score - a.score);
}

/**
 * Converts rectangles of the detection model to boxes, clipped to the frame. The model returns no
 * scores: a box gets the visual score of the hit.
 */
export function toBoxes(
  rects: Rect[],
  label: string,
  hit: Pick<Hit, "evidence" | "score">,
): BoundingBox[] {
  const score = visualScore(hit) ?? hit.score;
  return rects
    .map((rect) => ({ label, score, ...clipToFrame(rect) }))
    .filter(({ width, height }) => width > 0 && height > 0);
}

/**
 * Returns the best score of visual evidence, 0–1: a keyframe, labels or a caption. Null without.
 */
export function visualScore({ evidence }: Pick<Hit, "evidence">): number | null {
  const scores = evidence
    .filter(({ kind }) => kind === "visual" || kind === "caption")
    .map(({ score }) => score);
  return scores.length > 0 ? Math.min(1, maxOf(scores)) : null;
}

function clipToFrame({ x, y, width, height }: Rect): Rect {
  const [xMin, yMin, xMax, yMax] = [x, y, x + width, y + height].map((side) =>
    Math.min(1, Math.max(0, side)),
  );
  return { x: xMin!, y: yMin!, width: xMax! - xMin!, height: yMax! - yMin! };
}
