import { SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { cutAudio } from "../media/container/audio.ts";
import {
  getDurationSeconds,
  openContainer,
  requireVideoTrack,
} from "../media/container/open-container.ts";
import { extractFrameAt } from "../media/frames.ts";
import { type SampledFrame, sampleFrames } from "../media/shots/contact-sheet.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import { embedText } from "../models/embed-text.ts";
import { transcribe } from "../models/transcribe.ts";
import { COPY_DETECTION, CONTACT_SHEET } from "../parameters.ts";
import type { TimeRange } from "../time-range.ts";
import type { IndexRef } from "../types.ts";
import { tryChannel } from "./channels.ts";
import { findVideoCopies } from "./copy-detection.ts";
import { embedImages, toExample } from "./image-example.ts";
import type { ExampleQuery } from "./query.ts";

/**
 * Makes an example of a time range of a stored clip: copies of its frames, the mean image embedding
 * of its frames, and the text embedding of its speech. The work is bounded, however long the range.
 * Throws what `clipTimeRange`, `openContainer`, `sampleFrames` and `extractFrameAt` throw.
 */
export async function exampleFromClip(
  env: Env,
  index: IndexRef,
  key: string,
  requested: TimeRange,
): Promise<ExampleQuery> {
  const range = await clipTimeRange(env.MEDIA, key, requested);
  if (!(await hasPictures(env.MEDIA, key))) return exampleFromSound(env, key, range);
  const copyRanges = sampledRanges(range);
  const copyFrames: SampledFrame[] = [];
  const perSecond = COPY_DETECTION.queryFramesPerSecond;
  for (const copyRange of copyRanges) {
    using input = await openContainer(env.MEDIA, key, copyRange);
    const track = requireVideoTrack(input);
    copyFrames.push(...(await sampleFrames(env, track, { ...copyRange, perSecond })));
  }
  const jpegs: Uint8Array[] = [];
  for (const seconds of hasImageEmbeddings(env) ? sampleTimes(range.start, range.end) : []) {
    jpegs.push(await extractFrameAt(env, key, seconds));
  }
  const [imageVector, textVector, copies] = await Promise.all([
    jpegs.length > 0 ? tryChannel("image_vectors", () => embedImages(env, jpegs)) : null,
    embedSpeech(env, key, range).catch(nullIfUnavailable),
    findVideoCopies(env, index, copyRanges, copyFrames),
  ]);
  return toExample(imageVector, textVector, copies);
}

async function hasPictures(bucket: R2Bucket, key: string): Promise<boolean> {
  using input = await openContainer(bucket, key, { start: 0, end: 0 });
  return input.video !== null;
}

/** Makes an example of sound: what is said in it. Throws `nothing_indexed` without speech. */
async function exampleFromSound(env: Env, key: string, range: TimeRange): Promise<ExampleQuery> {
  const textVector = await embedSpeech(env, key, range);
  if (textVector) return toExample(null, textVector, []);
  throw new AppError(
    "nothing_indexed",
    "No speech is recognised in this part of the sound, and it has no pictures to search by.",
  );
}

/** Resolves a requested time range. Throws what `clipToDuration` and `getDurationSeconds` throw. */
export async function clipTimeRange(
  bucket: R2Bucket,
  key: string,
  requested: TimeRange,
): Promise<TimeRange> {
  return clipToDuration(requested, await getDurationSeconds(bucket, key));
}

/**
 * Clips a time range, which isn't empty, to the duration of its clip in seconds. An `end` of -1 is
 * the end of the clip. Throws `bad_request` if the range starts at the end of the clip or later.
 */
export function clipToDuration({ start, end }: TimeRange, durationSeconds: number): TimeRange {
  if (start >= durationSeconds) {
    const length = durationSeconds.toFixed(2);
    const message = `The start, ${start} s, is past the end of the clip, at ${length} s.`;
    throw new AppError("bad_request", message);
  }
  return { start, end: end === -1 ? durationSeconds : Math.min(end, durationSeconds) };
}

/**
 * Returns the ranges of a clip that frames are sampled from: all of it, or for a long clip evenly
 * spaced ranges of one contact sheet each, from its start to its end.
 */
export function sampledRanges({ start, end }: TimeRange): TimeRange[] {
  const { maxContactSheets, queryFramesPerSecond } = COPY_DETECTION;
  const sheetSeconds = CONTACT_SHEET.maxFrames / queryFramesPerSecond;
  if (end - start <= maxContactSheets * sheetSeconds) return [{ start, end }];
  const step = (end - start - sheetSeconds) / (maxContactSheets - 1);
  return Array.from({ length: maxContactSheets }, (_, i) => {
    return { start: start + i * step, end: start + i * step + sheetSeconds };
  });
}

/** Returns the middles of equal parts of a range: the times of the frames to embed, in seconds. */
export function sampleTimes(start: number, end: number): number[] {
  const { intervalSeconds, minCount, maxCount } = SEARCH.clipFrames;
  const count = Math.ceil((end - start) / intervalSeconds);
  const bounded = Math.max(minCount, Math.min(maxCount, count));
  return Array.from({ length: bounded }, (_, i) => start + ((i + 0.5) * (end - start)) / bounded);
}

/** A clip is searched by its pictures where its speech or a model is unavailable. */
function nullIfUnavailable(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}

/** Returns null if there is no speech. Throws what `cutAudio` and the models throw. */
async function embedSpeech(
  env: Env,
  key: string,
  { start, end }: TimeRange,
): Promise<number[] | null> {
  const range = { start, end: Math.min(end, start + SEARCH.clipSpeechSeconds) };
  using input = await openContainer(env.MEDIA, key, range);
  const texts: string[] = [];
  for (const { bytes } of input.audio ? await cutAudio(input.audio, range) : []) {
    const { segments } = await transcribe(env.AI, bytes, null);
    texts.push(...segments.map(({ text }) => text));
  }
  const transcript = texts.join(" ");
  return transcript === "" ? null : (await embedText(env.AI, [transcript]))[0]!;
}
