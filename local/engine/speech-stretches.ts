import type { Span } from "./media-track.ts";
import { SOUND_RATE } from "./sound.ts";

/** A span of a sound, and where it lies in a stretch. Seconds. */
interface Piece extends Span {
  at: number;
}

/** Spans that are heard together, the silence between them made short. */
export interface Stretch {
  pieces: Piece[];
  /** Seconds. */
  length: number;
}

/** Seconds of silence that are left between spans. */
const MAX_GAP = 0.5;
/** A span that is too long is cut where it is quietest in this many of its last seconds. */
const CUT_WITHIN = 8;
const CUT_STEP = 0.05;
const CUT_WIDTH = 0.2;

/** Cuts spans that last longer than `maxSeconds` where the sound is quietest. */
export function cutSpans(
  samples: Float32Array,
  spans: readonly Span[],
  maxSeconds: number,
): Span[] {
  return spans.flatMap((span) => {
    const cut: Span[] = [];
    let { start } = span;
    while (span.end - start > maxSeconds) {
      const end = findQuiet(samples, start + maxSeconds - CUT_WITHIN, start + maxSeconds);
      cut.push({ start, end });
      start = end;
    }
    return [...cut, { start, end: span.end }];
  });
}

/** Groups spans, none of which is longer than `maxSeconds`, into stretches that aren't either. */
export function groupSpans(spans: readonly Span[], maxSeconds: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const span of spans) {
    const stretch = stretches.at(-1);
    const before = stretch?.pieces.at(-1);
    const at = stretch && before && stretch.length + Math.min(MAX_GAP, span.start - before.end);
    const length = (at ?? 0) + span.end - span.start;
    if (stretch && at !== undefined && length <= maxSeconds) {
      stretch.pieces.push({ ...span, at });
      stretch.length = length;
    } else {
      stretches.push({ pieces: [{ ...span, at: 0 }], length: span.end - span.start });
    }
  }
  return stretches;
}

/** The samples of a stretch at `SOUND_RATE`. */
export function joinSamples(
  samples: Float32Array,
  { pieces, length }: Stretch,
): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(Math.ceil(length * SOUND_RATE));
  for (const { at, start, end } of pieces) {
    const piece = samples.subarray(Math.round(start * SOUND_RATE), Math.round(end * SOUND_RATE));
    const place = Math.round(at * SOUND_RATE);
    joined.set(piece.subarray(0, joined.length - place), place);
  }
  return joined;
}

/** Where in the sound a time span of the stretch lies; null where it holds silence only. */
export function toSound({ pieces }: Stretch, { start, end }: Span): Span | null {
  const first = pieces.find((piece) => endOf(piece) > start);
  const last = pieces.findLast((piece) => piece.at < end);
  if (!first || !last || last.at < first.at) return null;
  return {
    start: first.start + Math.max(0, start - first.at),
    end: last.start + Math.min(end, endOf(last)) - last.at,
  };
}

function endOf({ at, start, end }: Piece): number {
  return at + end - start;
}

/** The middle of the quietest place between two times. */
function findQuiet(samples: Float32Array, from: number, to: number): number {
  let [best, least] = [to, Infinity];
  for (let time = from; time + CUT_WIDTH <= to; time += CUT_STEP) {
    const place = Math.round(time * SOUND_RATE);
    const width = samples.subarray(place, place + CUT_WIDTH * SOUND_RATE);
    const energy = width.reduce((sum, value) => sum + value * value, 0);
    if (energy < least) [best, least] = [time + CUT_WIDTH / 2, energy];
  }
  return best;
}
