import { SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { append } from "../lists.ts";
import { cutAudio } from "../media/container/audio.ts";
import { listFrames } from "../media/container/clips.ts";
import {
  getDurationSeconds,
  openContainer,
  requireVideoTrack,
} from "../media/container/open-container.ts";
import { extractFrameAt } from "../media/frames.ts";
import { decodeImage, imageOfBytes } from "../media/pixels/decode-image.ts";
import { type SampledFrame, sampleFrames } from "../media/shots/contact-sheet.ts";
import { describeImage } from "../models/describe.ts";
import { embedInImageSpace, hasImageEmbeddings, embedText } from "../models/embed.ts";
import { transcribe } from "../models/transcribe.ts";
import { CONTACT_SHEET, COPY_DETECTION } from "../parameters.ts";
import type { TimeRange } from "../time-range.ts";
import type { IndexRef } from "../types.ts";
import { tryChannel } from "./channels.ts";
import { findImageCopies, findVideoCopies } from "./copy-detection.ts";
import { meanDirection } from "./example.ts";
import type { CopyMatch, ExampleQuery } from "./query.ts";

/**
 * Makes an example of an uploaded image: its copies, and its image embedding or, without image
 * embeddings, the text embedding of its caption. Throws `unreadable_image`.
 */
export async function exampleFromImage(
  env: Env,
  index: IndexRef,
  bytes: Uint8Array,
): Promise<ExampleQuery> {
  const { jpeg } = await decodeImage(env, imageOfBytes(bytes));
  const hasImages = hasImageEmbeddings(env);
  const [imageVector, textVector, copies] = await Promise.all([
    hasImages ? tryChannel("image_vectors", () => embedImages(env, [jpeg])) : null,
    hasImages ? null : tryChannel("text_vectors", () => embedCaption(env, jpeg)),
    findImageCopies(env, index, jpeg),
  ]);
  return toExample(imageVector, textVector, copies);
}

/** Combines the vectors of an uploaded file, or the failures to embed it, with its copies. */
function toExample(
  imageVector: number[] | AppError | null,
  textVector: number[] | AppError | null,
  copies: CopyMatch[],
): ExampleQuery {
  const vectorOf = (vector: typeof imageVector) => (vector instanceof AppError ? null : vector);
  return {
    imageVector: vectorOf(imageVector),
    textVector: vectorOf(textVector),
    copies,
    outage: [imageVector, textVector].find((vector) => vector instanceof AppError) ?? null,
    exclude: { segmentId: null, assetId: null },
  };
}

async function embedImages(env: Env, jpegs: Uint8Array[]): Promise<number[]> {
  const images = jpegs.map((image) => ({ image }));
  return meanDirection((await embedInImageSpace(env, images)).vectors);
}

/** Returns null if the model finds nothing to say of the image. */
async function embedCaption(env: Env, jpeg: Uint8Array): Promise<number[] | null> {
  const { caption, labels } = await describeImage(env.AI, jpeg);
  const text = `${caption} ${labels.join(", ")}`.trim();
  return text === "" ? null : (await embedText(env.AI, [text]))[0]!;
}

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
  {
    using input = await openContainer(env.MEDIA, key, { start: 0, end: 0 });
    if (input.video === null) return exampleFromSound(env, key, range);
  }
  const copyRanges = sampledRanges(range);
  const copyFrames: SampledFrame[] = [];
  const perSecond = COPY_DETECTION.queryFramesPerSecond;
  for (const copyRange of copyRanges) {
    using input = await openContainer(env.MEDIA, key, copyRange);
    const track = requireVideoTrack(input);
    const listed = await listFrames(track, copyRange);
    append(copyFrames, await sampleFrames(env, track, listed, { ...copyRange, perSecond }));
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
    append(
      texts,
      segments.map(({ text }) => text),
    );
  }
  const transcript = texts.join(" ");
  return transcript === "" ? null : (await embedText(env.AI, [transcript]))[0]!;
}
