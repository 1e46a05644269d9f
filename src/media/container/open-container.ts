import { ALL_FORMATS, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { AppError } from "../../errors.ts";
import type { RangedFile } from "./mp4-boxes.ts";
import type { TimeRange } from "../../time-range.ts";
import { type Patch, sliceMoov } from "./moov-slice.ts";
import { openFile } from "./r2-file.ts";

/** Properties of a video that its container states; nothing is decoded. */
export interface VideoInfo {
  container: string;
  durationSeconds: number;
  /** Pixels as displayed: rotation and pixel aspect applied. */
  width: number;
  height: number;
  rotation: number;
  fps: number | null;
  bitrate: number | null;
  videoCodec: string | null;
  audioCodec: string | null;
  audioBitrate: number | null;
  /** Language that the container states, BCP-47. */
  audioLanguage: string | null;
}

/** Ranges for the start and for the end of any video. */
const START: TimeRange = { start: 0, end: 0 };
const END: TimeRange = { start: Infinity, end: Infinity };
/** Cache of one reader, besides the blocks that the isolate caches. */
const READER_CACHE_BYTES = 2 * 1024 * 1024;
/** Packets from which the frame rate and the bitrates are computed. */
const PROBED_PACKETS = 200;

/**
 * Opens a stored video to read a time range of it. The memory doesn't grow with the length of the
 * video. Packets outside of the range may be missing. Dispose of it with `using`. Throws
 * `source_missing` without the object.
 */
export async function openContainer(
  bucket: R2Bucket,
  key: string,
  range: TimeRange,
): Promise<Input> {
  const file = await openFile(bucket, key);
  const patch = await sliceMoov(file, range);
  const source = new CustomSource({
    getSize: () => file.size,
    read: (start, end) => (patch ? readPatched(file, patch, start, end) : file.read(start, end)),
    maxCacheSize: READER_CACHE_BYTES,
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

/** Returns the primary video track. Throws `unreadable_container` or `no_video_track`. */
export async function requireVideoTrack(input: Input): Promise<InputVideoTrack> {
  const [tracks, track] = await withContainerErrors(() =>
    Promise.all([input.getTracks(), input.getPrimaryVideoTrack()]),
  );
  if (tracks.length === 0) throw unreadable();
  if (!track) throw new AppError("no_video_track", "The file has no video track.");
  return track;
}

/** Returns the duration of a stored video. Throws `unreadable_container` or `no_video_track`. */
export async function getDurationSeconds(bucket: R2Bucket, key: string): Promise<number> {
  using input = await openContainer(bucket, key, END);
  const video = await requireVideoTrack(input);
  return await withContainerErrors(() => input.computeDuration([video]));
}

/** Reads the properties of a stored video. Throws `unreadable_container` or `no_video_track`. */
export async function probeVideo(bucket: R2Bucket, key: string): Promise<VideoInfo> {
  const durationSeconds = await getDurationSeconds(bucket, key);
  using input = await openContainer(bucket, key, START);
  const video = await requireVideoTrack(input);
  return await withContainerErrors(async () => {
    const audio = await input.getPrimaryAudioTrack();
    const { averagePacketRate, averageBitrate } = await video.computePacketStats(PROBED_PACKETS);
    const audioStats = await audio?.computePacketStats(PROBED_PACKETS);
    const language = await audio?.getLanguageCode();
    return {
      container: (await input.getFormat()).name,
      durationSeconds,
      width: await video.getDisplayWidth(),
      height: await video.getDisplayHeight(),
      rotation: await video.getRotation(),
      fps: averagePacketRate > 0 ? averagePacketRate : null,
      bitrate: toBitrate(averageBitrate),
      videoCodec: await video.getCodec(),
      audioCodec: (await audio?.getCodec()) ?? null,
      audioBitrate: toBitrate(audioStats?.averageBitrate),
      audioLanguage: toLanguageTag(language),
    };
  });
}

function toBitrate(average = 0): number | null {
  return average > 0 ? Math.round(average) : null;
}

/** Converts ISO 639-2 (`eng`) to BCP-47 (`en`). */
function toLanguageTag(code: string | undefined): string | null {
  if (code === undefined || code === "und" || !/^[a-z]{2,3}$/.test(code)) return null;
  return Intl.getCanonicalLocales(code)[0] ?? null;
}

/** Turns any error of the container library, as for a damaged file, into `unreadable_container`. */
export async function withContainerErrors<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw unreadable(cause);
  }
}

function unreadable(cause?: unknown): AppError {
  const message =
    "The file can't be read as a video: it is damaged, cut off, or of an unknown format. " +
    "Convert it to MP4 and send it again.";
  return new AppError("unreadable_container", message, { cause });
}
