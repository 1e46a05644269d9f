import { SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { cutClip } from "../media/clips.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { frameOf } from "../media/frames.ts";
import { cutSound, getAudioTrack } from "../media/sound.ts";
import { hasPictureSpace } from "../models/embed-picture.ts";
import { embedText } from "../models/embed-text.ts";
import { transcribe } from "../models/transcribe.ts";
import type { SignatureHit } from "../store/signatures.ts";
import type { Likeness } from "./likeness.ts";
import { findSame, lookOf } from "./picture.ts";

/** A stretch of a clip, in seconds; an `end` of -1 is the clip's. */
export interface Region {
  start: number;
  end: number;
}

/**
 * What a stored clip is like in a region: the same footage by the signatures of frames evenly taken,
 * other footage by the middle of their places in the picture space, and by what is said. Throws
 * `bad_request` where the region is outside the clip, and as reading containers and frames does.
 */
export async function likenessOfClip(
  env: Env,
  indexId: string,
  key: string,
  region: Region,
): Promise<Likeness> {
  using input = await openContainer(env.MEDIA, key);
  const track = await requireVideoTrack(input);
  const { start, end } = within(region, await input.computeDuration([track]));
  const frames: Uint8Array[] = [];
  for (const seconds of sampleTimes(start, end)) {
    frames.push(await frameOf(env.FRAMES, await cutClip(track, seconds)));
  }
  const [looks, meaning, found] = await Promise.all([
    hasPictureSpace(env) ? lookOf(env, frames) : null,
    meaningOf(env, await getAudioTrack(input), start, end),
    findSameOfAll(env, indexId, frames),
  ]);
  const except = { segmentId: null, assetId: null };
  return { looks, meaning, same: bestOfEach(found), except };
}

/** Throws `bad_request`. */
export function within({ start, end }: Region, duration: number): Region {
  const until = end === -1 ? duration : end;
  if (start < until && until <= duration + SEARCH.clipSlackSeconds) {
    return { start, end: Math.min(until, duration) };
  }
  const message = `The region from ${start} to ${until} s is not in the clip, which is ${duration.toFixed(2)} s long.`;
  throw new AppError("bad_request", message);
}

/** The middles of equal stretches: one each two seconds, but some at least and not too many. */
export function sampleTimes(start: number, end: number): number[] {
  const { clipFrames } = SEARCH;
  const wished = Math.ceil((end - start) / clipFrames.everySeconds);
  const count = Math.max(clipFrames.least, Math.min(clipFrames.most, wished));
  return Array.from({ length: count }, (_, i) => start + ((i + 0.5) * (end - start)) / count);
}

/** Null where nothing is said, or nobody can listen. */
async function meaningOf(
  env: Env,
  track: Awaited<ReturnType<typeof getAudioTrack>>,
  start: number,
  end: number,
): Promise<number[] | null> {
  if (!track) return null;
  try {
    const sound = await cutSound(track, start, Math.min(end, start + SEARCH.clipSpeechSeconds));
    if (!sound) return null;
    const { spoken } = await transcribe(env.AI, sound.bytes, null);
    const words = spoken.map(({ text }) => text).join(" ");
    return words === "" ? null : (await embedText(env.AI, [words]))[0]!;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return null;
  }
}

/** One frame after another: each is tried against many crops, and compared with many pictures. */
async function findSameOfAll(
  env: Env,
  indexId: string,
  frames: Uint8Array[],
): Promise<SignatureHit[]> {
  const hits: SignatureHit[] = [];
  for (const jpeg of frames) hits.push(...(await findSame(env, indexId, jpeg)));
  return hits;
}

/** Each segment once, as its likest frame has it; the likest first. */
function bestOfEach(hits: SignatureHit[]): SignatureHit[] {
  const best = new Map<string, SignatureHit>();
  for (const hit of hits.toSorted((a, b) => b.similarity - a.similarity)) {
    if (!best.has(hit.segmentId)) best.set(hit.segmentId, hit);
  }
  return [...best.values()];
}
