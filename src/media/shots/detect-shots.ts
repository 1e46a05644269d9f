import { failureOf } from "../../errors.ts";
import { COPY_DETECTION, CONTACT_SHEET, SHOTS } from "../../parameters.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Transition } from "../../types.ts";
import type { PresentedVideo } from "../container/presented-track.ts";
import { listFrames } from "../container/sparse-clip.ts";
import type { DecoderEnv } from "../decoder.ts";
import {
  type SampledFrame,
  extractFrames,
  sampleFrames,
  type TileRequest,
} from "./contact-sheet.ts";
import { toFrameDescriptor } from "./frame-descriptor.ts";
import { selectRefinementFrames } from "./frame-refinement.ts";
import { findTransitions } from "./transitions.ts";

/** Frames and shot boundaries of one analysis window. */
export interface ShotAnalysis {
  /** Frames at regular times (`COPY_DETECTION.referenceFramesPerSecond`), in order. */
  frames: SampledFrame[];
  /** Transitions that begin in the window, in order. */
  transitions: Transition[];
  /** Operations of FRAMES. A contact sheet that took several counts once. */
  operations: number;
}

/**
 * Detects the shot boundaries of an analysis window: on frames at regular times first, then on the
 * frames between two that differ, in at most `SHOTS.refinementRounds` more operations of FRAMES.
 * Frames that can't be decoded in these rounds are skipped. `tiles` are cut out of the contact
 * sheets of the first round. Throws what `sampleFrames` throws.
 */
export async function detectShots(
  env: DecoderEnv,
  track: PresentedVideo,
  { start, end }: TimeRange,
  tiles?: TileRequest,
): Promise<ShotAnalysis> {
  const overlapEnd = end + SHOTS.overlapSeconds;
  const perSecond = COPY_DETECTION.referenceFramesPerSecond;
  const frames = await sampleFrames(env, track, { start, end: overlapEnd, perSecond }, tiles);
  const entries = await listFrames(track, start, overlapEnd);
  const descriptors = frames.map(toFrameDescriptor);
  let operations = 1;
  for (; operations <= SHOTS.refinementRounds; operations++) {
    const times = selectRefinementFrames(descriptors, entries, {
      limit: CONTACT_SHEET.maxFrames,
      rounds: SHOTS.refinementRounds + 1 - operations,
    });
    if (times.length === 0) break;
    const extracted = await extractFrames(env, track, times).catch(emptyIfUnreadable);
    if (extracted.length === 0) break;
    descriptors.push(...extracted.map(toFrameDescriptor));
    descriptors.sort((a, b) => a.seconds - b.seconds);
  }
  return {
    frames: frames.filter(({ seconds }) => seconds < end),
    transitions: findTransitions(descriptors).filter(({ from }) => from < end),
    operations,
  };
}

/** Returns no frames for `unreadable_frame`. Throws every other error. */
function emptyIfUnreadable(error: unknown): SampledFrame[] {
  if (failureOf(error).code === "unreadable_frame") return [];
  throw error;
}
