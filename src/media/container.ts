import { ALL_FORMATS, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { AppError } from "../errors.ts";
import { RecentRanges } from "./recent-ranges.ts";

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

/**
 * Opens a stored file for reading by ranges, however large it is. Dispose of it with `using`. Throws
 * `source_missing` where the object is gone.
 */
export async function openContainer(bucket: R2Bucket, key: string): Promise<Input> {
  const head = await bucket.head(key);
  if (!head) throw missing();
  const source = new CustomSource({
    getSize: () => head.size,
    read: (start, end) =>
      recent.get(`${key} ${head.etag} ${start}-${end}`, async () => {
        const object = await bucket.get(key, { range: { offset: start, length: end - start } });
        if (!object) throw missing();
        return new Uint8Array(await object.arrayBuffer());
      }),
    prefetchProfile: "network",
  });
  return new Input({ source, formats: ALL_FORMATS });
}

/** Every part of an ingest opens the container, and reads the index of all of it: megabytes, of a long film. */
const recent = new RecentRanges(16 * 1024 * 1024);

function missing(): AppError {
  return new AppError("source_missing", "The stored file is gone; send it again.");
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

/** Throws `unreadable_container` or `no_video_track`. */
export async function probeVideo(input: Input): Promise<VideoInfo> {
  const video = await requireVideoTrack(input);
  return reading(async () => {
    const audio = await input.getPrimaryAudioTrack();
    const { averagePacketRate, averageBitrate } = await video.computePacketStats(200);
    const sound = await audio?.computePacketStats(200);
    const language = await audio?.getLanguageCode();
    return {
      container: (await input.getFormat()).name,
      durationSeconds: await input.computeDuration([video]),
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
