import { FOOTAGE, SEARCH, SHEETS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import { durationOf, openContainer, requireVideoTrack } from "../media/container.ts";
import { frameAt } from "../media/frames.ts";
import { type Still, takeStills } from "../media/sheets.ts";
import { cutSound, getAudioTrack } from "../media/sound.ts";
import { hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { transcribe } from "../models/transcribe.ts";
import type { Region } from "./align.ts";
import { findFootage } from "./footage.ts";
import type { Likeness } from "./likeness.ts";
import { unlessOut } from "./outage.ts";
import { lookOf, toLikeness } from "./picture.ts";

/**
 * What a stored clip is like in a region, of which an `end` of -1 is the clip's: the same footage by its
 * stills, other footage by the middle of its frames' places in the picture space, and by what is said. The work
 * is bounded, however long the region is. Throws `bad_request` where the region is outside the clip, and as
 * reading containers and frames does.
 */
export async function likenessOfClip(
  env: Env,
  indexId: IndexId,
  key: string,
  wanted: Region,
): Promise<Likeness> {
  const region = await regionOf(env.MEDIA, key, wanted);
  const { start, end } = region;
  const stills: Still[] = [];
  const stretches = stretchesOf(region);
  for (const { start: from, end: to } of stretches) {
    using input = await openContainer(env.MEDIA, key, { from, to });
    const track = await requireVideoTrack(input);
    const perSecond = FOOTAGE.askedPerSecond;
    stills.push(...(await takeStills(env, track, { from, to, perSecond })));
  }
  const frames: Uint8Array[] = [];
  for (const seconds of hasPictureSpace(env) ? sampleTimes(start, end) : []) {
    frames.push(await frameAt(env, key, seconds));
  }
  const [looks, meaning, same] = await Promise.all([
    frames.length > 0 ? unlessOut("looks", () => lookOf(env, frames)) : null,
    meaningOf(env, key, region),
    findFootage(env.DB, indexId, stretches, stills),
  ]);
  return toLikeness(looks, meaning, same);
}

/** The region of a stored clip that is asked about. Throws as `likenessOfClip` does before it looks. */
export async function regionOf(bucket: R2Bucket, key: string, wanted: Region): Promise<Region> {
  return within(wanted, await durationOf(bucket, key));
}

/** Throws `bad_request`. */
export function within({ start, end }: Region, duration: number): Region {
  const until = end === -1 ? duration : Math.min(end, duration);
  if (start < until && end <= duration + SEARCH.clipSlackSeconds) return { start, end: until };
  const message = `The region from ${start} to ${until} s is not in the clip, which is ${duration.toFixed(2)} s long.`;
  throw new AppError("bad_request", message);
}

/** What of a region stills are taken of: all, or, of a long one, stretches evenly from its start to its end. */
export function stretchesOf({ start, end }: Region): Region[] {
  const longest = SHEETS.stills / FOOTAGE.askedPerSecond;
  if (end - start <= FOOTAGE.sheets * longest) return [{ start, end }];
  const every = (end - start - longest) / (FOOTAGE.sheets - 1);
  return Array.from({ length: FOOTAGE.sheets }, (_, i) => {
    return { start: start + i * every, end: start + i * every + longest };
  });
}

/** The middles of equal stretches: one each two seconds, but some at least and not too many. */
export function sampleTimes(start: number, end: number): number[] {
  const { clipFrames } = SEARCH;
  const wished = Math.ceil((end - start) / clipFrames.everySeconds);
  const count = Math.max(clipFrames.least, Math.min(clipFrames.most, wished));
  return Array.from({ length: count }, (_, i) => start + ((i + 0.5) * (end - start)) / count);
}

/** Null where nothing is said, or nobody can listen. */
async function meaningOf(env: Env, key: string, { start, end }: Region): Promise<number[] | null> {
  const heard = { from: start, to: Math.min(end, start + SEARCH.clipSpeechSeconds) };
  using input = await openContainer(env.MEDIA, key, heard);
  try {
    const track = await getAudioTrack(input);
    const sound = track && (await cutSound(track, heard.from, heard.to));
    if (!sound) return null;
    const { spoken } = await transcribe(env.AI, sound.bytes, null);
    const words = spoken.map(({ text }) => text).join(" ");
    return words === "" ? null : (await embedText(env.AI, [words]))[0]!;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return null;
  }
}
