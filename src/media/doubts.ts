import { type Look, novelty } from "./looks.ts";

/** A picture of a video as its container lists it. */
export interface ListedPicture {
  /** When it begins to be shown. */
  seconds: number;
  /** Coded without the others: where an encoder saw that all is new, or simply from time to time. */
  isKey: boolean;
}

/** Novelty across a gap from which it may hold a transition, and beside such a gap. */
const DOUBT = { novelty: 12, beside: 6 };
/** More pictures a second than this tell no more about a transition. */
const PER_SECOND = 30;
/** Of a gap of more pictures, so many are looked at first where there are too many gaps. */
const WIDE = { from: 6, pictures: 4 };
/** Pictures on either side of a gap, in which a transition may begin or end. */
const MARGIN = 3;
/** Pictures before and after a key picture that show whether it begins a shot. */
const AROUND_KEY = { before: 2, after: 1 };

/**
 * Which pictures to look at next: those between two looks that have little in common, or fairly little
 * and beside such a gap (the two thresholds of Zhang, Kankanhalli and Smoliar's twin comparison,
 * "Automatic partitioning of full-motion video", 1993). Where the encoder began anew in a gap, those
 * around that alone. The gaps with the least in common come first, until there are `limit` pictures; where
 * there are more than `rounds` times as many, a few of each gap, so that the next round comes closer to
 * what is found in this one.
 */
export function doubtfulPictures(
  looks: readonly Look[],
  pictures: readonly ListedPicture[],
  { limit, rounds }: { limit: number; rounds: number },
): number[] {
  let next = 0;
  const gaps = looks.slice(1).map((look, i) => {
    while (next < pictures.length && pictures[next]!.seconds <= looks[i]!.seconds) next++;
    const begin = next;
    while (next < pictures.length && pictures[next]!.seconds < look.seconds) next++;
    const within = pictures.slice(begin, next);
    return { within, novelty: within.length > 0 ? novelty(looks[i]!, look) : 0 };
  });
  const doubtful = gaps.flatMap((gap, i) => {
    const [before, after] = [gaps[i - 1], gaps[i + 1]];
    const beside = Math.max(before?.novelty ?? 0, after?.novelty ?? 0);
    if (gap.novelty < (beside >= DOUBT.novelty ? DOUBT.beside : DOUBT.novelty)) return [];
    const margins = [before?.within.slice(-MARGIN) ?? [], after?.within.slice(0, MARGIN) ?? []];
    return [{ novelty: gap.novelty, times: tellingPictures(gap.within, margins) }];
  });
  const telling = doubtful.sort((a, b) => b.novelty - a.novelty).map(({ times }) => times);
  const isMany = telling.flat().length > limit * rounds;
  const wanted = new Set<number>();
  for (const times of telling) {
    const few = isMany ? inSteps(times) : times;
    if (wanted.size + few.length <= limit) for (const time of few) wanted.add(time);
  }
  return [...wanted].sort((a, b) => a - b);
}

function tellingPictures(within: ListedPicture[], [lead, tail]: ListedPicture[][]): number[] {
  const key = within.findIndex(({ isKey }) => isKey);
  const { before, after } = AROUND_KEY;
  const all = [...(lead ?? []), ...within, ...(tail ?? [])];
  const few = key === -1 ? all : within.slice(Math.max(0, key - before), key + after + 1);
  let last = -Infinity;
  return few.flatMap(({ seconds }) => {
    if (seconds - last < 0.9 / PER_SECOND) return [];
    last = seconds;
    return [seconds];
  });
}

function inSteps(times: number[]): number[] {
  const stride = times.length > WIDE.from ? Math.ceil(times.length / WIDE.pictures) : 1;
  return times.filter((_, i) => (i + 1) % stride === 0);
}
