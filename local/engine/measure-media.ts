import { stat } from "node:fs/promises";
import {
  AV_NOPTS_VALUE,
  AV_PKT_FLAG_DISCARD,
  AV_TIME_BASE,
  AVMEDIA_TYPE_AUDIO,
} from "node-av/constants";
import { Packet, type Stream } from "node-av/lib";
import { EngineError } from "./errors.ts";
import { type MediaFacts, toMediaFacts } from "./media-probe.ts";
import { type MediaSource, openMedia, toSeconds } from "./media-source.ts";
import { type ByteRange, listRecordings } from "./recordings.ts";
import { readStatedSize } from "./stated-size.ts";

/** A recording of a file as it is presented. */
interface MeasuredRecording {
  /** Bytes of the file. */
  start_byte: number;
  end_byte: number;
  /** Time in its container of the first moment that a player shows. */
  origin_seconds: number;
  /** From there to the end of the last track. */
  duration_seconds: number;
}

/** What a file promises and hasn't. */
interface MissingMedia {
  /** 0 if it isn't known. */
  bytes: number;
  seconds: number;
  /** Presentation time of the first of it. */
  from_seconds: number;
}

/** Facts of a file, and its times as they are presented (docs/formats.md). */
export interface MeasuredMedia extends MediaFacts {
  duration_seconds: number;
  /** Most files have one. */
  recordings: MeasuredRecording[];
  missing: MissingMedia | null;
  /** Timecode of the first frame, such as `10:00:00:00`, with `;` if it drops frame numbers. */
  start_timecode: string | null;
}

/** First and last moment of a stream in seconds of the container. */
interface Extent {
  first: number;
  end: number;
  /** When the latest packet with a time begins, and how long each before it lasted. */
  last: number;
  step: number;
  /** Packets without a time since then, and that one: blocks of Matroska may hold several. */
  since: number;
  /** From the decoding of a packet to its presentation. */
  delay: number;
  packets: number;
}

/** Sound outside of the picture up to this long fills the frames of an encoder. */
const PADDING_SECONDS = 0.1;
const DEFAULT_FPS = 25;
/** Differences below both are rounding, or frames that encoders drop. */
const TOLERANCE = { seconds: 0.5, share: 0.02 };
/** Containers of which FFmpeg reads the length that they state. Of others it estimates one. */
const STATE_LENGTH = /^(?:ape|caf|flv|matroska|mov|mxf|rm|wv)\b/;

/**
 * Reads all packets of a file, because many containers state no duration, or a wrong one. A picture
 * beside sound is its cover, not a video. Errors: `undecodable_media` without a picture or sound.
 */
export async function measureMedia(path: string): Promise<MeasuredMedia> {
  const { ranges, lost } = await listRecordings(path);
  const recordings: MeasuredRecording[] = [];
  let facts: (MediaFacts & Pick<MeasuredMedia, "start_timecode">) | null = null;
  let [missing, seconds] = [null as MissingMedia | null, 0];
  for (const range of ranges) {
    const part = await measureRecording(path, ranges.length > 1 ? range : null, lost).catch(
      (error: unknown) => {
        if (recordings.length === 0) throw error;
        return null; // too little of it is left
      },
    );
    if (!part || (part.facts.video === null) !== ((facts ?? part.facts).video === null)) continue;
    facts ??= part.facts;
    missing ??= part.missing && {
      ...part.missing,
      from_seconds: seconds + part.missing.from_seconds,
    };
    const { origin, duration } = part;
    recordings.push({
      start_byte: range.start,
      end_byte: range.end,
      origin_seconds: origin,
      duration_seconds: duration,
    });
    seconds += duration;
  }
  return { ...facts!, duration_seconds: seconds, recordings, missing };
}

async function measureRecording(path: string, range: ByteRange | null, lost: ByteRange[]) {
  const source = await openMedia(path, range);
  try {
    const start = range?.start ?? 0;
    const gaps = lost.map((gap) => ({ start: gap.start - start, end: gap.end - start }));
    const { video: pictures, audio, gap } = await measureExtents(source, gaps);
    const isCover = audio !== null && pictures !== null && pictures.packets < 2;
    const video = isCover ? null : pictures;
    const main = video ?? audio;
    if (!main) throw new EngineError("undecodable_media", "The file has no frames.");
    const isAudioFirst = audio !== null && audio.first < main.first - PADDING_SECONDS;
    const origin = isAudioFirst ? audio.first : main.first;
    const isAudioLast = audio !== null && audio.end - main.end >= PADDING_SECONDS;
    const duration = (isAudioLast ? audio.end : main.end) - origin;
    const facts = {
      ...toMediaFacts(video ? source : { ...source, video: null }),
      start_timecode: readStartTimecode(source),
    };
    const missing = gap
      ? { ...gap, from_seconds: Math.max(0, gap.from_seconds - origin) }
      : await compareWithStated(path, source, duration);
    return { facts, origin, duration, missing };
  } finally {
    await source.close();
  }
}

function readStartTimecode({ context }: MediaSource): string | null {
  const stated = [context.metadata, ...context.streams.map(({ metadata }) => metadata)];
  const timecode = stated.map((tags) => tags?.get("timecode")).find(Boolean);
  return timecode && /^\d\d:\d\d:\d\d[:;]\d\d$/.test(timecode) ? timecode : null;
}

/** Returns what is missing at the end of a file by what its container states. */
async function compareWithStated(
  path: string,
  { context, container }: MediaSource,
  duration: number,
): Promise<MissingMedia | null> {
  const stated = await readStatedSize(path);
  const { size } = await stat(path);
  const bytes = Math.max(0, stated.bytes - size);
  const isCut = bytes > TOLERANCE.share * size;
  const isLengthStated = STATE_LENGTH.test(container) && context.duration !== AV_NOPTS_VALUE;
  const byFFmpeg = isLengthStated ? Number(context.duration) / AV_TIME_BASE : 0;
  const length = isCut ? stated.seconds : byFFmpeg;
  const lost = Math.max(0, length - duration);
  const seconds = lost > Math.max(TOLERANCE.seconds, TOLERANCE.share * length) ? lost : 0;
  return isCut || seconds > 0
    ? { bytes: isCut ? bytes : 0, seconds, from_seconds: duration }
    : null;
}

/** `gaps` are ranges of bytes that aren't packets of the container. */
async function measureExtents(source: MediaSource, gaps: readonly ByteRange[]) {
  using packet = new Packet();
  packet.alloc();
  const extents = new Map<number, Extent>();
  const streams = [source.video, source.audio].filter((stream) => stream !== null);
  const main = streams[0]!;
  let gap: MissingMedia | null = null;
  while ((await source.context.readFrame(packet)) >= 0) {
    // Frames that an edit list leaves out are read to decode those that it shows.
    const isShown = (packet.flags & AV_PKT_FLAG_DISCARD) === 0;
    const at = Number(packet.pos);
    const isLost = gaps.some(({ start, end }) => at >= start && at < end);
    const stream = isShown && !isLost && streams.find(({ index }) => index === packet.streamIndex);
    if (stream) {
      const before = extents.get(stream.index);
      const extent = extend(before, packet, stream);
      extents.set(stream.index, extent);
      const passed = gaps.find(({ end }) => at >= end);
      if (passed && !gap && before && stream === main) {
        const bytes = gaps.reduce((sum, { start, end }) => sum + end - start, 0);
        const seconds = Math.max(0, extent.last - before.end);
        gap = { bytes, seconds, from_seconds: before.end };
      }
    }
    packet.unref();
  }
  const extentOf = (stream: Stream | null) => (stream && extents.get(stream.index)) ?? null;
  return { video: extentOf(source.video), audio: extentOf(source.audio), gap };
}

/**
 * A packet without a time of presentation has that of its decoding, as much later as the one before
 * it. Sound without a duration is as long as the packet before.
 */
function extend(before: Extent | undefined, packet: Packet, stream: Stream): Extent {
  const timeOf = (time: bigint) => (time === AV_NOPTS_VALUE ? null : toSeconds(time, stream));
  const [presented, decoded] = [timeOf(packet.pts), timeOf(packet.dts)];
  const { first, end, last, step, since, delay, packets } = before ?? {
    first: Infinity,
    end: -Infinity,
    last: Infinity,
    step: frameTime(stream),
    since: 0,
    delay: 0,
    packets: 0,
  };
  const isAudio = stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO;
  const isTimed = presented !== null || decoded !== null;
  const at = presented ?? (decoded === null ? Math.max(0, end) : decoded + delay);
  const lasts = packet.duration > 0n ? toSeconds(packet.duration, stream) : step;
  return {
    first: Math.min(first, at),
    end: Math.max(end, at + lasts),
    last: isTimed ? at : last,
    step: isAudio && isTimed && at > last ? (at - last) / since : step,
    since: isTimed ? 1 : since + 1,
    delay: presented !== null && decoded !== null ? presented - decoded : delay,
    packets: packets + 1,
  };
}

function frameTime({ avgFrameRate: { num, den } }: Stream): number {
  return num > 0 && den > 0 ? den / num : 1 / DEFAULT_FPS;
}
