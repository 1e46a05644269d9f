import type { Transition } from "../types.ts";
import { findBlends, findFades, type Span } from "./blends.ts";
import { correlation, distance, isBlank, lightOf, type Look, novelty } from "./looks.ts";

/**
 * What makes a cut: novelty of at least so many levels, and so many times what is usual among the
 * neighbours (the adaptive detector of PySceneDetect, https://www.scenedetect.com/docs/latest/api/detectors.html,
 * with the median for the mean, so that a cut nearby doesn't hide one), and light in other places.
 */
const CUT = { novelty: 12, ratio: 3, neighbours: 4, correlation: 0.9 };
/** Levels that are added to what is usual: noise where nothing moves. */
const CALM = 1;
/** How long a flash is at most, by how many levels it is brighter, and how much novelty is left after it. */
const FLASH = { seconds: 0.32, brighter: 10, left: 0.5 };

/**
 * The transitions among pictures of a stretch of a video, in order, which may lie closer where that
 * matters: cuts, dissolves, and fades through black or white. What moves, a camera that does, and a flash
 * are none; nor is a fade at the start or end of the stretch.
 */
export function findTransitions(pictures: readonly Look[]): Transition[] {
  const looks = withoutFlashes(pictures);
  const blank = looks.map(isBlank);
  const steps = looks.slice(1).map((look, i) => distance(looks[i]!, look));
  const cuts = findCuts(looks, blank).map((at): Span => [at, at + 1]);
  const fades = findFades(looks, steps, blank, cuts);
  const known = cuts.concat(fades).sort((a, b) => a[0] - b[0]);
  const blends = known
    .concat([[looks.length - 1, looks.length]])
    .flatMap(([until], i) => findBlends(looks, steps, blank, [known[i - 1]?.[1] ?? 0, until]));
  const toTransition =
    (kind: Transition["kind"]) =>
    ([from, to]: Span): Transition => ({
      kind,
      from: looks[from]!.seconds,
      to: looks[to]!.seconds,
    });
  return cuts
    .map(toTransition("cut"))
    .concat(fades.concat(blends).map(toTransition("gradual")))
    .sort((a, b) => a.from - b.from);
}

/** Leaves out what is brighter for a moment, and after which all is as it was. */
function withoutFlashes(pictures: readonly Look[]): Look[] {
  const kept: Look[] = [];
  for (let at = 0; at < pictures.length;) {
    kept.push(pictures[at]!);
    at += flashAfter(pictures, at) + 1;
  }
  return kept;
}

/** Of how many pictures the flash is that comes next; 0 where none does. */
function flashAfter(pictures: readonly Look[], at: number): number {
  const [here, next] = [pictures[at]!, pictures[at + 1]];
  if (!next || lightOf(next) < lightOf(here) + FLASH.brighter) return 0;
  const own = novelty(here, next);
  if (own < CUT.novelty) return 0;
  const isBack = (look: Look) =>
    look.seconds <= here.seconds + FLASH.seconds &&
    lightOf(next) >= lightOf(look) + FLASH.brighter &&
    novelty(here, look) < FLASH.left * own;
  const back = pictures.findLastIndex((look, i) => i > at + 1 && isBack(look));
  return Math.max(0, back - at - 1);
}

/** The pictures after which there is a cut. */
function findCuts(looks: readonly Look[], blank: readonly boolean[]): number[] {
  const all = looks.slice(1).map((look, i) => novelty(looks[i]!, look));
  return all.flatMap((own, at) => {
    if (own < CUT.novelty || blank[at] || blank[at + 1]) return [];
    const first = Math.max(0, at - CUT.neighbours);
    const around = all.slice(first, at).concat(all.slice(at + 1, at + 1 + CUT.neighbours));
    if (own < CUT.ratio * (medianOf(around) + CALM)) return [];
    return correlation(looks[at]!, looks[at + 1]!) > CUT.correlation ? [] : [at];
  });
}

/** 0 of nothing. */
function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
