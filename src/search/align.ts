import { dot, mirror, type Place, sampleArea, WHOLE } from "../media/overlap.ts";
import type { TimedThumbnail } from "../media/thumbnails.ts";

/** A picture of what is asked about that looks like one of the stored video, in seconds of each. */
export interface Pair {
  asked: number;
  stored: number;
}

/** Where a stored video shows what is asked about. Seconds of the stored video. */
export interface Alignment {
  start: number;
  end: number;
  /**
   * The upper quartile of the pictures' correlations, 0–1: where much moves, a picture is like its moment, but
   * not like the stored ones around it. A little less where only a part of the region is there.
   */
  similarity: number;
  /** How fast the stored video runs over what is asked about: 1.05 where that was sped up by 5 %. */
  speed: number;
}

/** What is asked about, in seconds of the clip. */
export interface Region {
  start: number;
  end: number;
}

/** A line of time, and what speaks for it. */
interface Line {
  /** Stored time of the region's middle. */
  middle: number;
  speed: number;
  /** Of the pictures that agree best, in a row: what they are above `LEAST`, in sum. */
  score: number;
  from: number;
  to: number;
}

const SAMPLES = 16;
/** Of the stored video over the clip. */
export const SPEED = { least: 0.93, most: 1.07, step: 0.02, fine: 0.0025 };
const MIDDLE = { step: 0.25, fine: 0.05 };
/** A signature stands for a stretch that looks alike: this far from a pair the line is still looked for. */
const SLACK_SECONDS = 6;
/** Spread of grey levels below which a picture is flat, and what is seen in it is noise. */
const LEAST_SPREAD = 2.5;
/** Correlation from which a picture speaks for the footage being there. */
const LEAST = 0.6;
/** Stills further apart than this have a gap between them that nothing is known of. */
const MAX_GAP_SECONDS = 12;
/** Before the first still, and after the last, a moment looks like it so long. */
const LEAD_SECONDS = 0.3;
const MAX_LAST_SECONDS = 0.6;
/** Steps from a line along which others may be as good: a minute. */
const MAX_WALK = 1200;
/** Share of the best score that lines may lack and still be as good. */
const TIE = 0.001;
/** A repeat is as like the query as the best is, up to this. */
const REPEAT = 0.01;
const QUARTILE = 0.75;
/** What similarity loses where next to nothing of the region is there. */
const PART = 0.1;
const MAX_REPEATS = 3;

/**
 * Where the pictures of a region run along those of a stored video, the best first: lines of time (an
 * offset and a speed) through the neighbourhoods of the pairs, each judged by all the pictures along it, as in
 * temporal Hough voting (Douze, Jégou and Schmid, "An Image-Based Approach to Video Copy Detection with
 * Spatio-Temporal Post-Filtering", 2010). A moment between two stored stills is taken to look like their mix,
 * which makes times finer than the stills are. What the region holds besides is left off at its ends, by the
 * run of pictures with the largest sum (Kadane's algorithm). Where lines are as good, because nothing moves, it is the
 * middle one of them.
 */
export function align(
  region: Region,
  asked: readonly TimedThumbnail[],
  stored: readonly TimedThumbnail[],
  place: Place,
  pairs: readonly Pair[],
): Alignment[] {
  const table = compare(asked, stored, place);
  const found: Alignment[] = [];
  let lines = linesNear(region, pairs).map((line) => judge(table, region, line));
  while (found.length < MAX_REPEATS) {
    const best = lines.reduce<Line | null>((a, b) => (b.score > (a?.score ?? 0) ? b : a), null);
    if (!best) break;
    const match = toAlignment(table, region, refine(table, region, best));
    if (match.similarity < (found[0]?.similarity ?? 0) - REPEAT) break;
    if (!found.some((other) => overlap(match, other))) found.push(match);
    lines = lines.filter((line) => line !== best && !overlap(spanOf(table, region, line), match));
  }
  return found;
}

function overlap(a: Region, b: Region): boolean {
  return a.start < b.end && b.start < a.end;
}

/** How alike the pictures are, and where each is in time. */
interface Table {
  asked: readonly number[];
  stored: readonly number[];
  /** Cosines, a row for each that is asked about; null for a flat picture, which says nothing. */
  rows: (Float64Array | null)[];
  /** Cosine of each stored picture and the next. */
  next: Float64Array;
}

function compare(
  asked: readonly TimedThumbnail[],
  stored: readonly TimedThumbnail[],
  { area, isMirrored }: Place,
): Table {
  const known = stored.map(({ thumbnail }) => sampleArea(thumbnail, area, SAMPLES));
  const rows = asked.map(({ thumbnail }) => {
    if (spreadOf(thumbnail) < LEAST_SPREAD) return null;
    const view = sampleArea(isMirrored ? mirror(thumbnail) : thumbnail, WHOLE, SAMPLES);
    return Float64Array.from(known, (one) => dot(view, one));
  });
  return {
    asked: asked.map(({ seconds }) => seconds),
    stored: stored.map(({ seconds }) => seconds),
    rows,
    next: Float64Array.from(known, (one, i) => (known[i + 1] ? dot(one, known[i + 1]!) : 1)),
  };
}

/** Standard deviation of grey levels. */
function spreadOf(thumbnail: Uint8Array): number {
  const mean = thumbnail.reduce((sum, level) => sum + level, 0) / thumbnail.length;
  const squares = thumbnail.reduce((sum, level) => sum + (level - mean) ** 2, 0);
  return Math.sqrt(squares / thumbnail.length);
}

type Course = Pick<Line, "middle" | "speed">;

/** As fine as makes a second of difference over the region. */
function speedStep({ start, end }: Region): number {
  return Math.min(SPEED.step, 1 / Math.max(1, end - start));
}

function linesNear(region: Region, pairs: readonly Pair[]): Course[] {
  const centre = (region.start + region.end) / 2;
  const step = speedStep(region);
  const sides = Math.floor((SPEED.most - 1) / step);
  return Array.from({ length: 2 * sides + 1 }, (_, i) => 1 + (i - sides) * step).flatMap(
    (speed) => {
      const steps = new Set<number>();
      for (const { asked, stored } of pairs) {
        const middle = stored + speed * (centre - asked);
        const last = Math.ceil((middle + SLACK_SECONDS) / MIDDLE.step);
        for (let at = Math.floor((middle - SLACK_SECONDS) / MIDDLE.step); at <= last; at++)
          steps.add(at);
      }
      return Array.from(steps, (at) => ({ middle: at * MIDDLE.step, speed }));
    },
  );
}

/** What the pictures say about a course: the run of them that agrees most. */
function judge(table: Table, region: Region, course: Course): Line {
  const line: Line = { ...course, score: 0, from: 0, to: -1 };
  let [from, sum] = [0, 0];
  for (const [i, cosine] of cosinesAlong(table, region, course).entries()) {
    if (cosine === null) continue;
    if (sum <= 0) [from, sum] = [i, 0];
    sum += cosine - LEAST;
    if (sum > line.score) {
      line.score = sum;
      line.from = from;
      line.to = i;
    }
  }
  return line;
}

/** How alike each picture and its stored moment are; null for a flat one. */
function cosinesAlong(table: Table, { start, end }: Region, { middle, speed }: Course) {
  const centre = (start + end) / 2;
  let at = 0;
  return table.rows.map((row, i) => {
    const seconds = middle + speed * (table.asked[i]! - centre);
    while (at < table.stored.length - 1 && table.stored[at + 1]! <= seconds) at++;
    return row && cosineAt(table, row, at, seconds);
  });
}

/** Of a picture and the stored moment, which is the mix of the stills `at` and `at + 1` around it. */
function cosineAt({ stored, next }: Table, row: Float64Array, at: number, seconds: number): number {
  const [before, after] = [stored[at]!, stored[at + 1]];
  if (after === undefined || seconds < before) {
    return seconds < before - LEAD_SECONDS || seconds > before + MAX_LAST_SECONDS ? 0 : row[at]!;
  }
  const gap = after - before;
  if (gap > MAX_GAP_SECONDS) return seconds - before < MAX_LAST_SECONDS ? row[at]! : 0;
  const share = (seconds - before) / gap;
  const rest = 1 - share;
  const length = Math.sqrt(rest * rest + share * share + 2 * rest * share * next[at]!);
  return length < 0.1 ? 0 : (rest * row[at]! + share * row[at + 1]!) / length;
}

/** The best line near one, to a fraction of the stills' distance. */
function refine(table: Table, region: Region, coarse: Line): Line {
  const step = speedStep(region);
  const fine = Math.min(SPEED.fine, step / 10);
  const sides = Math.ceil(step / fine);
  const reach = Math.round(MIDDLE.step / MIDDLE.fine);
  const lines: Line[] = [];
  for (let i = -sides; i <= sides; i++) {
    const speed = coarse.speed + i * fine;
    if (speed < SPEED.least - fine || speed > SPEED.most + fine) continue;
    for (let j = -reach; j <= reach; j++) {
      lines.push(judge(table, region, { middle: coarse.middle + j * MIDDLE.fine, speed }));
    }
  }
  return middleOf(
    table,
    region,
    lines.reduce((a, b) => (b.score > a.score ? b : a), coarse),
  );
}

/** Of the lines next to one that are as good the middle, at the natural speed where that is as good too. */
function middleOf(table: Table, region: Region, best: Line): Line {
  const enough = best.score * (1 - TIE);
  const settle = (chosen: Line) => {
    const walk = (by: number) => {
      let last = chosen;
      for (let i = 0; i < MAX_WALK; i++) {
        const line = judge(table, region, { ...last, middle: last.middle + by });
        if (line.score < enough) break;
        last = line;
      }
      return last.middle;
    };
    const middle = (walk(-MIDDLE.fine) + walk(MIDDLE.fine)) / 2;
    return judge(table, region, { ...chosen, middle });
  };
  const settled = settle(best);
  const natural = judge(table, region, { ...settled, speed: 1 });
  return natural.score >= enough ? settle(natural) : settled;
}

/** From the first picture that agrees to the last, and all of the region where these are its first and last. */
function spanOf({ asked, rows }: Table, { start, end }: Region, line: Line): Region {
  const from = rows.findIndex(Boolean) >= line.from ? start : asked[line.from]!;
  const isLast = rows.findLastIndex(Boolean) <= line.to;
  const to = isLast ? end : Math.min(asked[line.to + 1]!, asked[line.to]! + LEAD_SECONDS);
  const stored = (seconds: number) => line.middle + line.speed * (seconds - (start + end) / 2);
  return { start: stored(from), end: stored(to) };
}

function toAlignment(table: Table, region: Region, line: Line): Alignment {
  const span = spanOf(table, region, line);
  const run = cosinesAlong(table, region, line).slice(line.from, line.to + 1);
  const cosines = run.filter((cosine) => cosine !== null).toSorted((a, b) => a - b);
  const typical = cosines[Math.floor(cosines.length * QUARTILE)] ?? 0;
  const missing = 1 - (span.end - span.start) / line.speed / (region.end - region.start);
  return { ...span, similarity: typical * (1 - PART * missing), speed: line.speed };
}
