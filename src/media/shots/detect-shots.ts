import { failureOf } from "../../errors.ts";
import { append } from "../../lists.ts";
import { COPY_DETECTION, CONTACT_SHEET, SHOTS } from "../../parameters.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Transition } from "../../types.ts";
import { listFrames, type FrameEntry } from "../container/clips.ts";
import type { PresentedVideo } from "../container/timeline.ts";
import type { DecoderEnv } from "../decoder.ts";
import { type SampledFrame, extractFrames, sampleFrames } from "./contact-sheet.ts";
import {
  toFrameDescriptor,
  type FrameDescriptor,
  displacedFrameDifference,
  findTransitions,
} from "./transitions.ts";

/** Frames and shot boundaries of one analysis window. */
export interface ShotAnalysis {
  /** Frames at regular times (`COPY_DETECTION.referenceFramesPerSecond`), in order. */
  frames: SampledFrame[];
  /** Transitions that begin in the window, in order. */
  transitions: Transition[];
  /** Operations of FRAMES that made a contact sheet. */
  operations: number;
}

/**
 * Detects the shot boundaries of an analysis window: on frames at regular times first, then on the
 * frames between two that differ, in at most `SHOTS.refinementRounds` rounds.
 * Frames that can't be decoded in these rounds are skipped. Throws what `sampleFrames` throws.
 */
export async function detectShots(
  env: DecoderEnv,
  track: PresentedVideo,
  { start, end }: TimeRange,
): Promise<ShotAnalysis> {
  const overlapEnd = end + SHOTS.overlapSeconds;
  const perSecond = COPY_DETECTION.referenceFramesPerSecond;
  let operations = 0;
  const onSheet = () => operations++;
  const range = { start, end: overlapEnd };
  const entries = await listFrames(track, range);
  const frames = await sampleFrames(env, track, entries, { ...range, perSecond }, onSheet);
  const descriptors = frames.map(toFrameDescriptor);
  for (let rounds: number = SHOTS.refinementRounds; rounds > 0; rounds--) {
    const times = selectRefinementFrames(descriptors, entries, {
      limit: CONTACT_SHEET.maxFrames,
      rounds,
    });
    if (times.length === 0) break;
    const extracted = await extractFrames(env, track, times, onSheet).catch(emptyIfUnreadable);
    if (extracted.length === 0) break;
    append(descriptors, extracted.map(toFrameDescriptor));
    descriptors.sort((a, b) => a.seconds - b.seconds);
  }
  return {
    frames: frames.filter(({ seconds }) => seconds < end),
    transitions: findTransitions(descriptors).filter(({ from }) => from < end),
    operations,
  };
}

function emptyIfUnreadable(error: unknown): SampledFrame[] {
  if (failureOf(error).code === "unreadable_frame") return [];
  throw error;
}

/**
 * Displaced frame difference (levels) from which a gap may hold a transition: `high` anywhere,
 * `low` beside a gap that reaches `high`.
 */
const THRESHOLD = { high: 12, low: 6 };
/** Frame rate beyond which more frames don't help to find a transition. */
const MAX_FRAMES_PER_SECOND = 30;
/**
 * Subsamples gaps of more than six frames to about four when the gaps together exceed the budget.
 */
const SUBSAMPLING = { aboveFrames: 6, frames: 4 };
/** Frames on either side of a gap, where a transition may begin or end. */
const MARGIN_FRAMES = 3;
/** Frames before and after a key packet that show whether it begins a shot. */
const AROUND_KEY = { before: 2, after: 1 };

/**
 * Selects the frames to decode next and returns their times, rising and at most `limit`. A gap
 * between two decoded frames is selected by the two thresholds of twin comparison (Zhang,
 * Kankanhalli and Smoliar, "Automatic partitioning of full-motion video", 1993): frames that differ
 * much, or less but beside such a gap. A gap with a key packet gives only the frames around it.
 * Gaps with the largest difference come first. When all gaps have more than `limit` × `rounds`
 * frames, each is subsampled, and the next round refines what this one finds.
 */
export function selectRefinementFrames(
  descriptors: readonly FrameDescriptor[],
  entries: readonly FrameEntry[],
  { limit, rounds }: { limit: number; rounds: number },
): number[] {
  let next = 0;
  const gaps = descriptors.slice(1).map((descriptor, i) => {
    const previous = descriptors[i]!;
    while (next < entries.length && entries[next]!.seconds <= previous.seconds) next++;
    const begin = next;
    while (next < entries.length && entries[next]!.seconds < descriptor.seconds) next++;
    const frames = entries.slice(begin, next);
    const difference = frames.length > 0 ? displacedFrameDifference(previous, descriptor) : 0;
    return { frames, difference };
  });
  const candidates = gaps.flatMap(({ frames, difference }, i) => {
    const [before, after] = [gaps[i - 1], gaps[i + 1]];
    const neighbour = Math.max(before?.difference ?? 0, after?.difference ?? 0);
    if (difference < (neighbour >= THRESHOLD.high ? THRESHOLD.low : THRESHOLD.high)) return [];
    const lead = before?.frames.slice(-MARGIN_FRAMES) ?? [];
    const tail = after?.frames.slice(0, MARGIN_FRAMES) ?? [];
    return [{ difference, times: candidateTimes(frames, lead, tail) }];
  });
  const byDifference = candidates
    .sort((a, b) => b.difference - a.difference)
    .map(({ times }) => times);
  const isOverBudget = byDifference.flat().length > limit * rounds;
  const selected = new Set<number>();
  for (const all of byDifference) {
    const times = isOverBudget ? subsample(all) : all;
    if (selected.size + times.length <= limit) for (const time of times) selected.add(time);
  }
  return [...selected].sort((a, b) => a - b);
}

/** Times of the frames of a gap and of its margins, or of those around the first key packet. */
function candidateTimes(frames: FrameEntry[], lead: FrameEntry[], tail: FrameEntry[]): number[] {
  const key = frames.findIndex(({ isKey }) => isKey);
  const { before, after } = AROUND_KEY;
  const chosen =
    key === -1
      ? [...lead, ...frames, ...tail]
      : frames.slice(Math.max(0, key - before), key + after + 1);
  let last = -Infinity;
  return chosen.flatMap(({ seconds }) => {
    if (seconds - last < 0.9 / MAX_FRAMES_PER_SECOND) return [];
    last = seconds;
    return [seconds];
  });
}

function subsample(times: number[]): number[] {
  const stride =
    times.length > SUBSAMPLING.aboveFrames ? Math.ceil(times.length / SUBSAMPLING.frames) : 1;
  return times.filter((_, i) => (i + 1) % stride === 0);
}
