import { mapAtOnce } from "../at-once.ts";
import { REGIONS } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import { log } from "../log.ts";
import type { Size } from "../media/areas.ts";
import { foregroundOf } from "../media/foreground.ts";
import { sizeOf } from "../media/pictures.ts";
import { detect } from "../models/detect.ts";
import { getKeyframe } from "../store/media.ts";
import type { Box, Mask } from "../types.ts";
import { namedBoxes, shownScore, toBoxes } from "./boxes.ts";
import type { Hit } from "./hits.ts";
import { layOutMask, placeMask } from "./mask-layout.ts";
import { parseQuery, thingNamedBy, wordsOf } from "./query.ts";
import { encodeMask } from "./run-length.ts";

type Found = Pick<Hit, "segment" | "asset" | "score" | "evidence">;

interface Wish {
  query: string;
  useBoxes: boolean;
  useMasks: boolean;
}

/** Where a hit shows what the query names. */
interface Located {
  /** Null where they weren't asked for. */
  boxes: Box[] | null;
  /** Null where it wasn't asked for, or there is none. */
  mask: Mask | null;
}

/** What is still to be found out about a hit. */
interface Task<Some> {
  hit: Some;
  boxes: Box[];
  mask: Mask | null;
  /** What to have pointed at; null where the boxes are known. */
  target: string | null;
  wantsMask: boolean;
}

interface Keyframe extends Size {
  jpeg: Uint8Array;
}

/**
 * The hits of a page with where they show what the query names: stored boxes by their labels, the
 * surest first, else those that a model points at, where the evidence says that the picture shows it
 * and the hit isn't far less likely than the best; and a mask of what stands out in the first box. It
 * takes `REGIONS.withinMs` at most and never throws: what can't be found, or not in time, is left out.
 */
export async function locate<Some extends Found>(
  env: Env,
  hits: Some[],
  wish: Wish,
): Promise<(Omit<Some, keyof Located> & Located)[]> {
  const tasks = wish.useBoxes || wish.useMasks ? plan(hits, wish) : [];
  const open = tasks.filter(({ target, wantsMask }) => target !== null || wantsMask);
  await withinTime(open, async (task) => {
    const keyframe = await openKeyframe(env, task.hit);
    if (!keyframe) return;
    const { hit, target } = task;
    if (target !== null) {
      task.boxes = toBoxes(await detect(env.AI, keyframe.jpeg, keyframe, target), target, hit);
    }
    const [best] = task.boxes;
    if (best && task.wantsMask) task.mask = await maskIn(env.IMAGES, keyframe, best);
  });
  return hits.map((hit, i) => {
    const { boxes = null, mask = null } = tasks[i] ?? {};
    return { ...hit, boxes: wish.useBoxes ? boxes : null, mask };
  });
}

/** A task for each hit; no more than so many of a page take a model call or a mask. */
function plan<Some extends Found>(hits: Some[], { query, useMasks }: Wish): Task<Some>[] {
  const text = query === "" ? "" : parseQuery(query).plain;
  const [words, thing] = [wordsOf(text), thingNamedBy(text)];
  const least = REGIONS.askedFrom * Math.max(0, ...hits.map(({ score }) => score));
  let asked = 0;
  return hits.map((hit, i) => {
    const boxes = namedBoxes(hit.segment.boxes, words);
    const isAsked =
      boxes.length === 0 &&
      shownScore(hit) !== null &&
      thing !== null &&
      hit.score >= least &&
      asked++ < REGIONS.detections;
    const target = isAsked ? thing : null;
    const wantsMask = useMasks && i < REGIONS.masks && (isAsked || boxes.length > 0);
    return { hit, boxes, mask: null, target, wantsMask };
  });
}

/** Null where the segment was never seen. */
async function openKeyframe(env: Env, { segment, asset }: Found): Promise<Keyframe | null> {
  if (segment.problem) return null;
  const jpeg = await getKeyframe(env.MEDIA, asset, segment.keyframeMs);
  if (!jpeg) return null;
  const { width, height } = await sizeOf(env.IMAGES, new Blob([jpeg]).stream());
  return { jpeg, width, height };
}

async function maskIn(images: ImagesBinding, keyframe: Keyframe, box: Box): Promise<Mask | null> {
  const layout = layOutMask(keyframe, box);
  const found = await foregroundOf(images, keyframe.jpeg, layout.inKeyframe, layout.inMask);
  const pixels = placeMask(layout, found);
  return pixels && encodeMask(pixels, layout.mask.width, layout.mask.height);
}

/** Works on a few at a time, for as long as there is time. What fails is left as it is. */
async function withinTime<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const over = AbortSignal.timeout(REGIONS.withinMs);
  const all = mapAtOnce(items, REGIONS.atOnce, async (item) => {
    if (over.aborted) return;
    await work(item).catch((error: unknown) => {
      log("warn", "search.not_located", { code: failureOf(error).code, cause: traceOf(error) });
    });
  });
  const timeout = new Promise((resolve) => over.addEventListener("abort", resolve));
  await Promise.race([all, timeout]);
}
