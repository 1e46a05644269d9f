import type { Failure } from "../../errors.ts";
import { maxOf, partitionPoint } from "../../lists.ts";
import { splitSentences } from "../../text/sentences.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Cue } from "../../types.ts";

/** Longer cues are split into sentences. */
const LONG_CUE_SECONDS = 10;
/** Limit of a segment's transcript, more than anyone says in that time. */
const MAX_SEGMENT_CHARACTERS = 20_000;
/** Tolerance for rounding, as a share of all speech. */
const ROUNDING = 1e-9;
const HOUR = 3600;

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
      ? distribute(splitIntoCues(text), [{ start, end, weight: 1 }])
      : { start, end, text };
  });
}

/** Returns the text of each range, in order: of the cues whose middle lies in the range. */
export function textByRange(cues: Cue[], ranges: TimeRange[]): string[] {
  const texts = ranges.map((): string[] => []);
  for (const { start, end, text } of cues) {
    const middle = (start + end) / 2;
    const at = partitionPoint(ranges, (range) => range.start <= middle) - 1;
    if (at >= 0 && middle < ranges[at]!.end) texts[at]!.push(text);
  }
  return texts.map((parts) => parts.join(" ").slice(0, MAX_SEGMENT_CHARACTERS).toWellFormed());
}

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

/** A part of 200 characters at most: up to a blank, or of a longer word, as in some scripts. */
const CUE_PARTS = /(?=\S)[^]{1,200}(?!\S)|\S{1,200}/gu;

/** Splits a text into sentences, and long ones between words. */
export function splitIntoCues(text: string): string[] {
  return splitSentences(text).flatMap((sentence) =>
    sentence.length <= 200 ? [sentence] : (sentence.replaceAll(/\s+/g, " ").match(CUE_PARTS) ?? []),
  );
}

/** Characters in a unit of time below which, and units above which, seconds make no sense. */
const MILLISECONDS = { maxCharacters: 0.06, minLength: 500 } as const;

/** Whether the times of cues are whole, and so slow for their text that they are milliseconds. */
export function areMilliseconds(cues: readonly Cue[]): boolean {
  const timed = cues.filter(({ start, end }) => end >= start);
  const length = timed.reduce((sum, { start, end }) => sum + end - start, 0);
  const characters = timed.reduce((sum, { text }) => sum + text.length, 0);
  return (
    timed.every(({ start, end }) => Number.isInteger(start) && Number.isInteger(end)) &&
    length >= Math.max(1, timed.length) * MILLISECONDS.minLength &&
    characters < length * MILLISECONDS.maxCharacters
  );
}

export function fromMilliseconds(cues: readonly Cue[]): Cue[] {
  return cues.map(({ start, end, text }) => ({ start: start / 1000, end: end / 1000, text }));
}

/**
 * Fits cues to a video of a length, and says what was done. Times that begin at a whole hour, as
 * those of a tape, and would fit without it are shifted, those that must be milliseconds are
 * divided. Cues past the end stay.
 */
export function fitCues(
  cues: Cue[],
  durationSeconds: number,
): { cues: Cue[]; warnings: Failure[] } {
  const lastEnd = maxOf(cues.map(({ end }) => end || 0));
  if (lastEnd > 2 * durationSeconds && areMilliseconds(cues) && lastEnd < 2000 * durationSeconds) {
    const message =
      "The times of the transcript are read as milliseconds: as seconds, they are past the end.";
    return { cues: fromMilliseconds(cues), warnings: [{ code: "transcript_shifted", message }] };
  }
  const past = cues.filter(({ start }) => start >= durationSeconds).length;
  if (past === 0) return { cues, warnings: [] };
  const first = cues.find(({ start }) => !Number.isNaN(start))!.start;
  const hours = Math.floor(first / HOUR);
  if (hours > 0 && cues.at(-1)!.start - hours * HOUR < durationSeconds) {
    const shift = (time: number) => Math.round((time - hours * HOUR) * 1000) / 1000;
    const shifted = cues.map(({ start, end, text }) => {
      return { start: shift(start), end: shift(end), text };
    });
    const message = `The transcript begins at ${hours} h, the video doesn't: its times are ${hours} h earlier.`;
    return { cues: shifted, warnings: [{ code: "transcript_shifted", message }] };
  }
  const share = past === cues.length ? "All cues" : `${past} of ${cues.length} cues`;
  const message =
    `${share} of the transcript start after the end of the video, at ${durationSeconds} s, ` +
    "and aren't found: check that it is this video's.";
  return { cues, warnings: [{ code: "transcript_past_end", message }] };
}

const CODES = new Set(["transcript_malformed", "transcript_shifted", "transcript_past_end"]);

/** Whether a warning is about the transcript that was given. It goes with the transcript. */
export function isTranscriptWarning({ code }: Pick<Failure, "code">): boolean {
  return CODES.has(code);
}

/** Longest pause in which a line stays on the screen. */
const MAX_GAP_SECONDS = 1;
/** Share of neighbours with common lines above which captions roll. */
const MIN_ROLLING_SHARE = 0.5;
const MAX_LINES = 8;
/** Longest line that may grow word by word. */
const MAX_LINE = 500;

interface RollingCue {
  cue: Cue;
  lines: string[];
  /** Lines at its beginning that are at the end of the cue before. */
  repeated: number;
  /** Whether its first line continues the last line of the cue before. */
  continues: boolean;
}

/**
 * Returns each line of rolling captions once, at its first time. Captions that don't roll stay as
 * they are: a line that is said twice is there twice.
 */
export function mergeRollingCues(cues: Cue[]): Cue[] {
  const rolling = compareNeighbours(cues);
  const related = rolling.filter(({ repeated, continues }) => repeated > 0 || continues);
  const adds = related.some(
    ({ lines, repeated, continues }) => continues || lines.length > repeated,
  );
  if (!adds || related.length < 2) return cues;
  if (related.length < (rolling.length - 1) * MIN_ROLLING_SHARE) return cues;
  const merged: Cue[] = [];
  for (const { cue, lines, repeated, continues } of rolling) {
    const last = merged.at(-1);
    if (continues && last && last.text.length <= MAX_LINES * MAX_LINE) {
      const lastLines = last.text.split("\n").slice(0, -1);
      last.text = [...lastLines, ...lines].join("\n");
      last.end = cue.end;
    } else if (lines.length > repeated) {
      merged.push({ ...cue, text: lines.slice(repeated).join("\n") });
    }
  }
  return merged;
}

function compareNeighbours(cues: Cue[]): RollingCue[] {
  let before: { end: number; lines: string[] } | undefined;
  return cues.flatMap((cue) => {
    const lines = cue.text
      .split("\n")
      .map((line) => line.replaceAll(/\s+/g, " ").trim())
      .filter(Boolean);
    if (lines.length === 0) return [];
    const isNear = before !== undefined && !(cue.start > before.end + MAX_GAP_SECONDS);
    const repeated = isNear ? countRepeated(before!.lines, lines) : 0;
    const last = before?.lines.at(-1);
    const grows = lines[0]!.length <= MAX_LINE && lines[0]!.startsWith(`${last} `);
    const continues = isNear && repeated === 0 && grows;
    before = { end: cue.end, lines };
    return [{ cue, lines, repeated, continues }];
  });
}

function countRepeated(earlier: string[], lines: string[]): number {
  for (let count = Math.min(earlier.length, lines.length, MAX_LINES); count > 0; count--) {
    const end = earlier.slice(-count);
    if (end.every((line, i) => line === lines[i])) return count;
  }
  return 0;
}
