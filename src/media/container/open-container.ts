import type { InputVideoTrack } from "mediabunny";
import { AppError } from "../../errors.ts";
import { maxOf, minOf } from "../../lists.ts";
import type { TimeRange } from "../../time-range.ts";
import { getDisplaySize } from "./display-size.ts";
import { isMatroskaEncrypted } from "./matroska.ts";
import { findBox, findMoov, type RangedFile, readContent, readFourCc } from "./mp4-boxes.ts";
import { openInput } from "./open-input.ts";
import { getFrameRate } from "./packets.ts";
import { openFile } from "./r2-file.ts";
import {
  getTimeline,
  type MissingMedia,
  type PresentedAudio,
  type PresentedVideo,
  toStreamRange,
} from "./timeline.ts";

/** Properties of a video or of sound that its container states; nothing is decoded. */
export interface MediaInfo {
  container: string;
  durationSeconds: number;
  /** Null for sound without pictures. */
  video: VideoInfo | null;
  audioCodec: string | null;
  audioBitrate: number | null;
  /** Language that the container states, BCP-47. */
  audioLanguage: string | null;
  /** What of the file isn't there, null for a complete one. */
  missing: MissingMedia | null;
}

interface VideoInfo {
  /** Pixels as displayed: rotation and pixel aspect applied. */
  width: number;
  height: number;
  rotation: number;
  /** Width over height of a stored pixel, upright; null if pixels are square. */
  pixelAspect: number | null;
  /** Infinity if all frames are at one time. */
  fps: number | null;
  bitrate: number | null;
  codec: string | null;
  /** Codec with its profile and level, as in RFC 6381: `avc1.640028`. */
  codecString: string | null;
}

/** Packets from which the frame rate and the bitrates are computed. */
const PROBED_PACKETS = 200;

/** A stored video, open to read a time range of it. */
export interface Container extends Disposable {
  durationSeconds: number;
  /** What of the file isn't there, null for a complete one. */
  missing: MissingMedia | null;
  format: () => Promise<string>;
  /** Null without such a track. */
  video: PresentedVideo | null;
  audio: PresentedAudio | null;
}

/**
 * Opens a stored video to read a time range of its presentation. The memory doesn't grow with the
 * length of the video. Packets outside of the range may be missing. Dispose of it with `using`.
 * Throws `source_missing` without the object, and `unreadable_container`, also without pictures and
 * sound.
 */
export async function openContainer(
  bucket: R2Bucket,
  key: string,
  range: TimeRange,
): Promise<Container> {
  const file = await openFile(bucket, key);
  return withContainerErrors(async () => {
    const timeline = await getTimeline(file);
    const { origin, video, audio, videoId, audioId } = timeline;
    const ranges = [video, audio].flatMap((times) =>
      times ? [toStreamRange({ ...times, origin }, range)] : [],
    );
    const input = await openInput(file, {
      start: minOf(ranges.map(({ start }) => start)),
      end: maxOf(ranges.map(({ end }) => end)),
    });
    if (!video && !audio) throw unreadable();
    const tracks = await input.getTracks();
    const present = (times: TimeRange | null, trackId: number | null) => {
      const track = tracks.find(({ id }) => id === trackId);
      return track && times ? { track, ...times, origin } : null;
    };
    return {
      durationSeconds: timeline.durationSeconds,
      missing: timeline.missing,
      format: async () => (await input.getFormat()).name,
      video: present(video, videoId) as PresentedVideo | null,
      audio: present(audio, audioId) as PresentedAudio | null,
      [Symbol.dispose]: () => input.dispose(),
    };
  });
}

/** Returns the video track. Throws `no_video_track`. */
export function requireVideoTrack({ video }: Container): PresentedVideo {
  if (video) return video;
  throw new AppError("no_video_track", "The file has no video track.");
}

/**
 * Returns the duration of a stored video or sound: to the end of its last track. Throws
 * `unreadable_container`.
 */
export async function getDurationSeconds(bucket: R2Bucket, key: string): Promise<number> {
  using container = await openContainer(bucket, key, { start: 0, end: 0 });
  return container.durationSeconds;
}

/** Reads the properties of a stored video or sound. Throws `unreadable_container`. */
export async function probeMedia(bucket: R2Bucket, key: string): Promise<MediaInfo> {
  using container = await openContainer(bucket, key, { start: 0, end: 0 });
  return await withContainerErrors(async () => {
    const audio = container.audio?.track;
    const audioStats = await audio?.computePacketStats(PROBED_PACKETS);
    const language = await audio?.getLanguageCode();
    return {
      container: await container.format(),
      durationSeconds: container.durationSeconds,
      video: container.video && (await readVideoInfo(container.video.track)),
      audioCodec: (await audio?.getCodec()) ?? null,
      audioBitrate: toBitrate(audioStats?.averageBitrate),
      audioLanguage: toLanguageTag(language),
      missing: container.missing,
    };
  });
}

const SQUARE_TOLERANCE = 0.01;

async function readVideoInfo(track: InputVideoTrack): Promise<VideoInfo> {
  const stats = await track.computePacketStats(PROBED_PACKETS);
  const size = await getDisplaySize(track);
  const rotation = await track.getRotation();
  const stored = [await track.getCodedWidth(), await track.getCodedHeight()];
  const [across, down] = rotation % 180 === 0 ? stored : stored.toReversed();
  const aspect = Number(((size.width / size.height) * (down! / across!)).toFixed(3));
  return {
    ...size,
    rotation,
    pixelAspect: Math.abs(aspect - 1) > SQUARE_TOLERANCE ? aspect : null,
    fps: await getFrameRate(track, stats),
    bitrate: toBitrate(stats.averageBitrate),
    codec: await track.getCodec(),
    codecString: await track.getCodecParameterString(),
  };
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
    "The file can't be read as a video or sound: it is damaged, cut off, or of an unknown format. " +
    "Convert it to MP4 and send it again.";
  return new AppError("unreadable_container", message, { cause });
}

/** Sample entries of encrypted tracks: Common Encryption (ISO/IEC 23001-7), and FairPlay. */
const ENCRYPTED = new Set(["encv", "enca", "drmi", "drms"]);
/** Where the type of the first sample entry is in a box `stsd`. */
const ENTRY_TYPE = 12;

/** Throws `unsupported_codec` for an encrypted track in MP4 or Matroska, as bought films have. */
export async function requireUnencrypted(file: RangedFile): Promise<void> {
  if (!(await isMp4Encrypted(file)) && !(await isMatroskaEncrypted(file))) return;
  throw new AppError(
    "unsupported_codec",
    "The video is encrypted (DRM), as bought and rented films are, and can't be decoded. " +
      "Send a copy without protection.",
  );
}

async function isMp4Encrypted(file: RangedFile): Promise<boolean> {
  const moov = await findMoov(file);
  for (const track of moov?.children.filter(({ type }) => type === "trak") ?? []) {
    const descriptions = findBox(track, "mdia", "minf", "stbl", "stsd");
    if (!descriptions) continue;
    const view = await readContent(file, descriptions, 0, ENTRY_TYPE + 4);
    if (view.byteLength < ENTRY_TYPE + 4) continue;
    if (ENCRYPTED.has(readFourCc(view, ENTRY_TYPE))) return true;
  }
  return false;
}

/** The first page of a stream of Ogg: its version is 0, and its flags say that it begins. */
const OGG_STREAM = "OggS\0\u0002";
const OGG_BLOCK_BYTES = 4 * 1024 * 1024;

/**
 * Throws `unreadable_container` for an Ogg of several streams, as a chained one is, of which the
 * library reads the first link (RFC 3533, section 4). Reads an Ogg once, whole.
 */
export async function requireUnchained(file: RangedFile): Promise<void> {
  for (let start = 0; start < file.size; start += OGG_BLOCK_BYTES) {
    const end = Math.min(file.size, start + OGG_BLOCK_BYTES + OGG_STREAM.length - 1);
    const bytes = Buffer.from(await file.read(start, end));
    if (start === 0 && bytes.indexOf(OGG_STREAM, 0, "latin1") !== 0) return;
    if (bytes.includes(OGG_STREAM, start === 0 ? 1 : 0, "latin1")) {
      throw new AppError(
        "unreadable_container",
        "The file is several recordings one after another (a chained Ogg), which aren't read " +
          "here. Convert it to one.",
      );
    }
  }
}
