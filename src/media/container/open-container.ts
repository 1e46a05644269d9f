import type { Input, InputAudioTrack, InputTrack, InputVideoTrack, PacketStats } from "mediabunny";
import { AppError } from "../../errors.ts";
import { ignoreAfterUse } from "../../ignored-errors.ts";
import type { TimeRange } from "../../time-range.ts";
import { openPart } from "./file-parts.ts";
import { readMatroska } from "./matroska.ts";
import type { MissingMedia } from "./missing-media.ts";
import type { RangedFile } from "./mp4-boxes.ts";
import type { PresentedAudio, PresentedTrack, PresentedVideo } from "./presented-track.ts";
import { openFile } from "./r2-file.ts";
import { findHole, getTimeline, type Timeline, type TimelinePart } from "./read-timeline.ts";
import { type Span, spanAt, streamRange } from "./timeline.ts";

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
  findMissing: () => Promise<MissingMedia | null>;
  format: () => Promise<string>;
  /** Null without such a track. */
  video: PresentedVideo | null;
  audio: PresentedAudio | null;
}

/**
 * Opens a stored video to read a time range of its presentation. The memory doesn't grow with the
 * length of the video. Packets outside of the range may be missing. Dispose of it with `using`.
 * Throws `source_missing` without the object, and `unreadable_container`.
 */
export async function openContainer(
  bucket: R2Bucket,
  key: string,
  range: TimeRange,
): Promise<Container> {
  const file = await openFile(bucket, key);
  return withContainerErrors(async () => {
    const timeline = await getTimeline(file);
    if (timeline.video.length === 0) await refuseCompression(file);
    const inputs = new PartInputs(file, timeline, range);
    return {
      durationSeconds: timeline.durationSeconds,
      findMissing: async () => timeline.missing ?? (await findHole(file, timeline)),
      format: async () => (await (await inputs.open(0)).getFormat()).name,
      video: await inputs.present<InputVideoTrack>(timeline.video, ({ videoId }) => videoId),
      audio: await inputs.present<InputAudioTrack>(timeline.audio, ({ audioId }) => audioId),
      [Symbol.dispose]: () => inputs.dispose(),
    };
  });
}

/** Throws `unreadable_container` for a Matroska file whose frames are compressed. */
async function refuseCompression(file: RangedFile): Promise<void> {
  if (!(await readMatroska(file))?.hasCompressedFrames) return;
  throw new AppError(
    "unreadable_container",
    "The Matroska file compresses its frames (ContentCompression), which can't be read here. " +
      "Copy it without, as `mkvmerge -o out.mkv --compression -1:none in.mkv` does.",
  );
}

/** The parts of a file, each opened at its first use. */
class PartInputs {
  readonly #inputs = new Map<number, Promise<Input>>();

  readonly #file: RangedFile;
  readonly #timeline: Timeline;
  readonly #range: TimeRange;

  constructor(file: RangedFile, timeline: Timeline, range: TimeRange) {
    this.#file = file;
    this.#timeline = timeline;
    this.#range = range;
  }

  open(part: number): Promise<Input> {
    const { video, audio, parts } = this.#timeline;
    const open = async () => {
      const ranges = [video, audio].flatMap((spans) => streamRange(spans, part, this.#range) ?? []);
      const [starts, ends] = [ranges.map(({ start }) => start), ranges.map(({ end }) => end)];
      const partRange = { start: Math.min(...starts), end: Math.max(...ends) };
      return openPart(this.#file, parts[part]!.part, partRange);
    };
    const input = this.#inputs.get(part) ?? open();
    this.#inputs.set(part, input);
    return input;
  }

  async present<Track extends InputTrack>(
    spans: readonly Span[],
    idOf: (part: TimelinePart) => number | null,
  ): Promise<PresentedTrack<Track> | null> {
    const [first] = spans;
    if (!first) return null;
    const openTrack = async (part: number) => {
      const tracks = await (await this.open(part)).getTracks();
      const id = idOf(this.#timeline.parts[part]!);
      return tracks.find((track) => track.id === id) as Track;
    };
    const shown = spanAt(spans, this.#range.start) ?? first;
    const open = (part: number) => () => openTrack(part);
    return {
      track: await openTrack(shown.part),
      spans: spans.map((span) => ({ ...span, open: open(span.part) })),
    };
  }

  dispose(): void {
    for (const input of this.#inputs.values()) {
      void input.then((opened) => opened.dispose()).catch(ignoreAfterUse);
    }
  }
}

/** Returns the video track. Throws `unreadable_container` or `no_video_track`. */
export function requireVideoTrack(container: Container): PresentedVideo {
  requireTracks(container);
  if (container.video) return container.video;
  throw new AppError("no_video_track", "The file has no video track.");
}

/** Throws `unreadable_container` without pictures and sound. */
function requireTracks({ video, audio }: Container): void {
  if (!video && !audio) throw unreadable();
}

/**
 * Returns the duration of a stored video or sound: to the end of its last track. Throws
 * `unreadable_container`.
 */
export async function getDurationSeconds(bucket: R2Bucket, key: string): Promise<number> {
  using container = await openContainer(bucket, key, { start: 0, end: 0 });
  requireTracks(container);
  return container.durationSeconds;
}

/** Reads the properties of a stored video or sound. Throws `unreadable_container`. */
export async function probeMedia(bucket: R2Bucket, key: string): Promise<MediaInfo> {
  using container = await openContainer(bucket, key, { start: 0, end: 0 });
  requireTracks(container);
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
      missing: await container.findMissing(),
    };
  });
}

async function readVideoInfo(track: InputVideoTrack): Promise<VideoInfo> {
  const stats = await track.computePacketStats(PROBED_PACKETS);
  return {
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    rotation: await track.getRotation(),
    fps: toFrameRate(stats),
    bitrate: toBitrate(stats.averageBitrate),
    codec: await track.getCodec(),
    codecString: await track.getCodecParameterString(),
  };
}

/** Returns null without frames, and for a single one without a duration. */
function toFrameRate({ packetCount, averagePacketRate }: PacketStats): number | null {
  return packetCount > 1 || averagePacketRate < Infinity ? averagePacketRate || null : null;
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
