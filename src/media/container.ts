import { ALL_FORMATS, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { AppError } from "../errors.ts";
import type { RangedFile } from "./mp4-boxes.ts";
import { type Patch, type Span, windowIndex } from "./mp4-window.ts";
import { openFile } from "./stored-file.ts";

/** What a container says about its video, without decoding any of it. Times in seconds. */
export interface VideoInfo {
  container: string;
  durationSeconds: number;
  /** As displayed: rotation and pixel aspect applied. */
  width: number;
  height: number;
  rotation: number;
  fps: number | null;
  bitrate: number | null;
  videoCodec: string | null;
  audioCodec: string | null;
  audioBitrate: number | null;
  /** What the container claims, BCP-47. */
  audioLanguage: string | null;
}

/** Where a video begins, and where it ends. */
const START: Span = { from: 0, to: 0 };
const END: Span = { from: Infinity, to: Infinity };
/** What a reader keeps of a file, besides what the isolate does. */
const KEPT_BYTES = 2 * 1024 * 1024;

/**
 * Opens a stored file to read a stretch of it by ranges, in the same memory however long it is; outside of the
 * stretch there may be nothing. Dispose of it with `using`. Throws `source_missing` where the object is gone.
 */
export async function openContainer(bucket: R2Bucket, key: string, span: Span): Promise<Input> {
  const file = await openFile(bucket, key);
  const patch = await windowIndex(file, span);
  const source = new CustomSource({
    getSize: () => file.size,
    read: (start, end) => (patch ? readPatched(file, patch, start, end) : file.read(start, end)),
    maxCacheSize: KEPT_BYTES,
    prefetchProfile: "fileSystem",
  });
  return new Input({ source, formats: ALL_FORMATS });
}

async function readPatched(file: RangedFile, patch: Patch, start: number, end: number) {
  if (end <= patch.start || start >= patch.end) return file.read(start, end);
  const bytes = new Uint8Array(end - start);
  const put = (part: Uint8Array, at: number) => bytes.set(part, at - start);
  if (start < patch.start) put(await file.read(start, patch.start), start);
  if (end > patch.end) put(await file.read(patch.end, end), patch.end);
  const from = Math.max(start, patch.start);
  put(patch.bytes.subarray(from - patch.start, end - patch.start), from);
  return bytes;
}

/** Throws `unreadable_container` or `no_video_track`. */
export async function requireVideoTrack(input: Input): Promise<InputVideoTrack> {
  const [tracks, track] = await reading(() =>
    Promise.all([input.getTracks(), input.getPrimaryVideoTrack()]),
  );
  if (tracks.length === 0) throw unreadable();
  if (!track) throw new AppError("no_video_track", "The file holds no video, sound at most.");
  return track;
}

/** How long a stored video is, in seconds. Throws `unreadable_container` or `no_video_track`. */
export async function durationOf(bucket: R2Bucket, key: string): Promise<number> {
  using input = await openContainer(bucket, key, END);
  const video = await requireVideoTrack(input);
  return await reading(() => input.computeDuration([video]));
}

/** Throws `unreadable_container` or `no_video_track`. */
export async function probeVideo(bucket: R2Bucket, key: string): Promise<VideoInfo> {
  const durationSeconds = await durationOf(bucket, key);
  using input = await openContainer(bucket, key, START);
  const video = await requireVideoTrack(input);
  return await reading(async () => {
    const audio = await input.getPrimaryAudioTrack();
    const { averagePacketRate, averageBitrate } = await video.computePacketStats(200);
    const sound = await audio?.computePacketStats(200);
    const language = await audio?.getLanguageCode();
    return {
      container: (await input.getFormat()).name,
      durationSeconds,
      width: await video.getDisplayWidth(),
      height: await video.getDisplayHeight(),
      rotation: await video.getRotation(),
      fps: averagePacketRate > 0 ? averagePacketRate : null,
      bitrate: averageBitrate > 0 ? Math.round(averageBitrate) : null,
      videoCodec: await video.getCodec(),
      audioCodec: (await audio?.getCodec()) ?? null,
      audioBitrate: sound && sound.averageBitrate > 0 ? Math.round(sound.averageBitrate) : null,
      audioLanguage: toLanguageTag(language),
    };
  });
}

/** ISO 639-2 (`eng`) → BCP-47 (`en`). */
function toLanguageTag(code: string | undefined): string | null {
  if (code === undefined || code === "und" || !/^[a-z]{2,3}$/.test(code)) return null;
  return Intl.getCanonicalLocales(code)[0] ?? null;
}

/** A damaged file makes the reader throw what it likes; ours says what to do. */
export async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw unreadable(cause);
  }
}

function unreadable(cause?: unknown): AppError {
  const message =
    "The file can't be read as a video: it is damaged, cut off, or of a format that we don't know. " +
    "Convert it to MP4 and send it again.";
  return new AppError("unreadable_container", message, { cause });
}
