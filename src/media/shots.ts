import type { InputVideoTrack } from "mediabunny";
import { FOOTAGE, SHEETS, SHOTS } from "../config.ts";
import { failureOf } from "../errors.ts";
import type { Transition } from "../types.ts";
import { doubtfulPictures } from "./doubts.ts";
import { lookOf } from "./looks.ts";
import { listPictures } from "./montages.ts";
import { type SheetsEnv, type Still, takePictures, takeStills } from "./sheets.ts";
import { findTransitions } from "./transitions.ts";

/** A stretch of a video that was looked through. */
export interface Seen {
  /** `FOOTAGE.storedPerSecond` of them, in order. */
  stills: Still[];
  /** Those that begin in the stretch, in order. */
  transitions: Transition[];
  /** Of FRAMES, that it took; more where a sheet took several. */
  operations: number;
}

/**
 * Looks through the pictures from `from` to `to` (seconds) and finds where one shot gives way to another:
 * first on stills at regular times, then, where two of these have little in common, on the pictures in
 * between, in `SHOTS.rounds` operations of FRAMES at most, as far as these can be decoded. Throws as
 * `takeStills` does.
 */
export async function lookThrough(
  env: SheetsEnv,
  track: InputVideoTrack,
  { from, to }: { from: number; to: number },
): Promise<Seen> {
  const until = to + SHOTS.overlapSeconds;
  const stills = await takeStills(env, track, {
    from,
    to: until,
    perSecond: FOOTAGE.storedPerSecond,
  });
  const pictures = await listPictures(track, from, until);
  const looks = stills.map(lookOf);
  let operations = 1;
  for (; operations <= SHOTS.rounds; operations++) {
    const times = doubtfulPictures(looks, pictures, {
      limit: SHEETS.stills,
      rounds: SHOTS.rounds + 1 - operations,
    });
    if (times.length === 0) break;
    const taken = await takePictures(env, track, times).catch(orNone);
    if (taken.length === 0) break;
    looks.push(...taken.map(lookOf));
    looks.sort((a, b) => a.seconds - b.seconds);
  }
  return {
    stills: stills.filter(({ seconds }) => seconds < to),
    transitions: findTransitions(looks).filter(({ from: begin }) => begin < to),
    operations,
  };
}

/** What can't be decoded is done without. */
function orNone(error: unknown): Still[] {
  if (failureOf(error).code === "unreadable_frame") return [];
  throw error;
}
