import { correlation, covariance, distance, type Look, novelty } from "./looks.ts";

/** The last picture before a transition and the first one after it, by their places in a list. */
export type Span = readonly [from: number, to: number];

/** The longest dissolve, and each half of a fade. */
const MAX_SECONDS = 3;
/** Changes of fewer steps, or of one step as large as this share of them all, are none. */
const STEPS = { least: 4, largest: 0.5 };
/**
 * How far apart, in levels, the ends of a blend are at least after a toll for each level of the way from
 * picture to picture, and a small one for each picture: things that move go a long way and get nowhere, and
 * where nothing blends, more pictures cost more than they bring.
 */
const GAIN = { least: 6, toll: 0.55, straightness: 0.6, pause: 0.1 };
/** What the ends may have in common. */
const APART = { correlation: 0.8, novelty: 12 };
/** How far pictures in between may be from a mix of the ends, as a share of how far these are apart. */
const RESIDUAL = 0.27;
/** A fade is the shortest one that has this share of the best gain. */
const NEAR_BEST = 0.92;

/**
 * Dissolves among the pictures of a span: stretches that get from one picture to another by a straight
 * way, each picture on it a mix of the two in proportion to its time (the production model of Lienhart,
 * "Reliable dissolve detection", 2001). `steps` are the distances from each picture to the next, `blank`
 * says in which there is nothing.
 */
export function findBlends(
  looks: readonly Look[],
  steps: readonly number[],
  blank: readonly boolean[],
  [first, last]: Span,
): Span[] {
  const likely: { span: Span; gain: number }[] = [];
  for (let from = first; from < last; from++) {
    let [path, largest] = [0, 0];
    for (let to = from + 1; to <= last; to++) {
      const [a, b] = [looks[from]!, looks[to]!];
      if (blank[from] || blank[to]) break;
      if (b.seconds - a.seconds > MAX_SECONDS) break;
      path += steps[to - 1]!;
      largest = Math.max(largest, steps[to - 1]!);
      if (to - from < STEPS.least || largest > STEPS.largest * path) continue;
      const apart = distance(a, b);
      const gain = apart - GAIN.toll * path - GAIN.pause * (to - from);
      if (gain < GAIN.least || apart < GAIN.straightness * path) continue;
      likely.push({ span: [from, to], gain });
    }
  }
  const found: Span[] = [];
  for (const { span } of likely.sort((a, b) => b.gain - a.gain)) {
    const isFree = found.every(([from, to]) => span[0] >= to || span[1] <= from);
    if (isFree && isBlend(looks.slice(span[0], span[1] + 1))) found.push(span);
  }
  return found;
}

/** Fades: from a picture to black or white, and from there to another one. */
export function findFades(
  looks: readonly Look[],
  steps: readonly number[],
  blank: readonly boolean[],
  cuts: readonly Span[],
): Span[] {
  const fades: Span[] = [];
  for (let first = 0, last: number; first < looks.length; first = last + 1) {
    last = first;
    if (!blank[first]) continue;
    while (blank[last + 1]) last++;
    if (first === 0 || last === looks.length - 1) continue;
    const begin = Math.max(fades.at(-1)?.[1] ?? 0, ...cuts.map(([, to]) => (to <= first ? to : 0)));
    const nextBlank = blank.indexOf(true, last + 1);
    const end = Math.min(
      looks.length - 1,
      nextBlank === -1 ? Infinity : nextBlank,
      ...cuts.map(([from]) => (from >= last ? from : Infinity)),
    );
    const from = fadeEnd(looks, steps, first, begin);
    const to = fadeEnd(looks, steps, last, end);
    if (from < first && to > last) fades.push([from, to]);
  }
  return fades;
}

/** Where a fade that has one end at `blank` has the other, on the way to `limit`. */
function fadeEnd(
  looks: readonly Look[],
  steps: readonly number[],
  blank: number,
  limit: number,
): number {
  const way = limit < blank ? -1 : 1;
  const gains: number[] = [];
  for (let at = blank + way, path = 0; way * at <= way * limit; at += way) {
    if (Math.abs(looks[at]!.seconds - looks[blank]!.seconds) > MAX_SECONDS) break;
    path += steps[Math.min(at, at - way)]!;
    gains.push(distance(looks[blank]!, looks[at]!) - GAIN.toll * path);
  }
  const best = Math.max(...gains);
  return blank + way * (gains.findIndex((gain) => gain >= NEAR_BEST * best) + 1);
}

function isBlend(looks: readonly Look[]): boolean {
  const [a, b] = [looks[0]!, looks.at(-1)!];
  if (correlation(a, b) > APART.correlation || novelty(a, b) < APART.novelty) return false;
  if (!isFlatter(looks[Math.floor(looks.length / 2)]!, a, b)) return false;
  const apart = distance(a, b);
  return looks.every((look) => {
    const share = (look.seconds - a.seconds) / (b.seconds - a.seconds);
    const cells = a.cells.map((cell, i) => cell + (b.cells[i]! - cell) * share);
    return distance(look, { seconds: look.seconds, cells }) < RESIDUAL * apart;
  });
}

/**
 * Whether a picture has less contrast than those around it, as a mix has (Alattar, "Detecting and
 * compressing dissolve regions", 1993), and one of a moving camera hasn't: no more than halfway between.
 */
function isFlatter(middle: Look, a: Look, b: Look): boolean {
  const own = (covariance(a, a) + covariance(b, b)) / 2;
  const mixed = (own + covariance(a, b)) / 2;
  return covariance(middle, middle) <= (own + mixed) / 2;
}
