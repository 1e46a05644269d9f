import { MemoryBudget } from "../memory-budget.ts";
import type { TimeRange } from "../time-range.ts";
import { maxClipBytes } from "./container/clips.ts";
import type { PresentedVideo } from "./container/presented-track.ts";

const MIB = 1024 * 1024;
/** Largest sum of the packets of one clip. */
export const MAX_CLIP_BYTES = 14 * MIB;
/** Copies of a clip in memory while it is made: packets, written sections, finished file. */
const COPIES = 3;
/** For all clips of an isolate, which has 128 MB for everything. */
const BUDGET_BYTES = 48 * MIB;
/** Longer than it takes to make and decode a clip. */
const MAX_HOLD_MS = 180_000;

const budget = new MemoryBudget(BUDGET_BYTES, MAX_HOLD_MS);

/**
 * Makes and sends a clip of a time range, of at most `MAX_CLIP_BYTES`, within the memory that all
 * clips of this isolate share. Waits while other clips hold the memory.
 */
export async function withClipMemory<T>(
  track: PresentedVideo,
  range: TimeRange,
  work: () => Promise<T>,
): Promise<T> {
  return budget.run(COPIES * (await maxClipBytes(track, range, MAX_CLIP_BYTES)), work);
}
