import type { TimeRange } from "../../time-range.ts";
import type { Cue } from "../../types.ts";
import { splitSentences } from "./plain-text.ts";

/** Longer cues are split into sentences. */
const LONG_CUE_SECONDS = 10;
/** Limit of a segment's transcript, more than anyone says in that time. */
const MAX_SEGMENT_CHARACTERS = 20_000;
/** Tolerance for rounding, as a share of all speech. */
const ROUNDING = 1e-9;

/** A time range with speech. `weight` is its amount of speech, in any unit. */
interface SpeechInterval extends TimeRange {
  weight: number;
}

/**
 * Gives cues without times the times of the speech intervals, in proportion to the text before each
 * cue and the weight before each interval. The text then follows the pace of the speaker.
 */
export function assignCueTimes(cues: Cue[], intervals: SpeechInterval[]): Cue[] {
  if (cues.every(({ start }) => !Number.isNaN(start))) return cues;
  return distribute(
    cues.map(({ text }) => text),
    intervals,
  );
}

/** Returns the time ranges of cues in order and without overlaps, weighted by their characters. */
export function speechIntervals(cues: Cue[]): SpeechInterval[] {
  const intervals: SpeechInterval[] = [];
  for (const { start, end, text } of cues.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(start, intervals.at(-1)?.end ?? 0);
    if (end > from && text !== "") intervals.push({ start: from, end, weight: text.length });
  }
  return intervals;
}

/**
 * Splits long cues into sentences, which get shares of its time. Cues end with the video and have
 * one line. Cues without times are distributed over the video.
 */
export function splitLongCues(cues: Cue[], durationSeconds: number): Cue[] {
  return assignCueTimes(cues, [{ start: 0, end: durationSeconds, weight: 1 }]).flatMap((cue) => {
    const { start } = cue;
    const end = Math.max(start, Math.min(cue.end, durationSeconds));
    const text = cue.text.replaceAll(/\s+/g, " ");
    return end - start > LONG_CUE_SECONDS
      ? distribute(splitSentences(text), [{ start, end, weight: 1 }])
      : { start, end, text };
  });
}

/** Returns the text of each range, in order: of the cues whose middle lies in the range. */
export function textByRange(cues: Cue[], ranges: TimeRange[]): string[] {
  const texts = ranges.map((): string[] => []);
  for (const { start, end, text } of cues) {
    const middle = (start + end) / 2;
    const at = ranges.findLastIndex((range) => range.start <= middle);
    if (at >= 0 && middle < ranges[at]!.end) texts[at]!.push(text);
  }
  return texts.map((parts) => parts.join(" ").slice(0, MAX_SEGMENT_CHARACTERS).toWellFormed());
}

/** Distributes texts over speech intervals in proportion to their characters. */
function distribute(texts: string[], intervals: SpeechInterval[]): Cue[] {
  const characterCount = texts.reduce((sum, text) => sum + text.length, 0);
  const totalWeight = intervals.reduce((sum, { weight }) => sum + weight, 0);
  let [weightBefore, at] = [0, 0]; // of all intervals before `intervals[at]`
  /** Time at which `weight` is reached: between two intervals the end of one or the next start. */
  const timeAt = (weight: number, boundary: keyof TimeRange): number => {
    const tolerance = (boundary === "end" ? ROUNDING : -ROUNDING) * totalWeight;
    while (at < intervals.length - 1 && weight > weightBefore + intervals[at]!.weight + tolerance) {
      weightBefore += intervals[at]!.weight;
      at++;
    }
    const interval = intervals[at]!;
    const share = Math.min(1, Math.max(0, (weight - weightBefore) / interval.weight));
    return interval.start + share * (interval.end - interval.start);
  };
  let charactersBefore = 0;
  return texts.map((text) => {
    const start = timeAt((charactersBefore / characterCount) * totalWeight, "start");
    charactersBefore += text.length;
    return { start, end: timeAt((charactersBefore / characterCount) * totalWeight, "end"), text };
  });
}
