import {
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
  StreamTarget,
  type StreamTargetChunk,
  type VideoCodec,
} from "mediabunny";
import { AppError } from "../../errors.ts";
import type { TimeRange } from "../../time-range.ts";
import { makeDisposablePredicate } from "./disposable.ts";
import { withContainerErrors } from "./open-container.ts";
import { getKeyPacketAt, packetsFrom } from "./packets.ts";
import type { PresentedVideo } from "./presented-track.ts";
import { rangeInSpan, spanAt, spansIn, toPresentationTime, toStreamTime } from "./timeline.ts";

/** A frame may be stored this long before one that is presented before it. */
export const REORDER_SECONDS = 1;
/** Duration of a frame whose container states none, as Matroska does of the last one. */
const MIN_FRAME_SECONDS = 0.04;
/** Most frames that H.264 decodes ahead of one that is presented before them, and that one. */
const REORDERED_FRAMES = 17;

export interface Clip {
  /** A standalone MP4. */
  file: Blob;
  codec: VideoCodec;
  /** Time in the clip of the requested frame, or of the start of the requested range. */
  atSeconds: number;
}

/** A clip of a time range. Times are seconds of the presentation. */
export interface RangeClip extends Clip {
  /** Presentation times of its frames, in order. */
  presentationTimes: number[];
  /** End of the last frame in the range. */
  endSeconds: number;
  /** False if `maxBytes` left out the rest of the range. */
  isComplete: boolean;
}

/** Which packets of a range are copied. */
export interface RemuxOptions {
  /**
   * A clip that would be larger ends with the previous group of pictures, or within its only one.
   */
  maxBytes: number;
  /** Copies the key packet of each group of pictures only. */
  keyPacketsOnly: boolean;
  /** Leaves out disposable frames as long as no gap grows beyond this. */
  gapSeconds: number;
}

/**
 * Copies the frame that is on screen at `seconds` into an MP4, after the frames that it depends on.
 * Where these exceed `maxBytes`, the clip ends earlier and shows the latest frame before `seconds`
 * that fits. Throws `unreadable_frame` without a frame there, `unsupported_codec` for an unknown
 * codec, and `unreadable_container`.
 */
export async function cutFrameClip(
  video: PresentedVideo,
  presentedSeconds: number,
  maxBytes: number,
): Promise<Clip> {
  const span = spanAt(video.spans, presentedSeconds)!;
  const [track, seconds] = [await span.open(), toStreamTime(span, presentedSeconds)];
  return remux(track, seconds, async (sink, first, copy) => {
    const target = (await sink.getPacket(seconds, { metadataOnly: true })) ?? first;
    const isDisposable = await makeDisposablePredicate(track);
    let [bytes, shown] = [0, first];
    for await (const packet of packetsFrom(sink, first)) {
      const isTarget = packet.sequenceNumber === target.sequenceNumber;
      if (isTarget || !isDisposable(packet)) {
        bytes += packet.byteLength;
        if (bytes > maxBytes && packet !== first) break;
        if (isEarlier(shown, packet) && !isEarlier(target, packet)) shown = packet;
        await copy(packet);
      }
      if (isTarget || packet.timestamp > target.timestamp + REORDER_SECONDS) break;
    }
    const middle = shown.timestamp + shown.duration / 2;
    return { atSeconds: Math.min(Math.max(seconds, shown.timestamp), middle) - first.timestamp };
  });
}

function isEarlier(a: EncodedPacket, b: EncodedPacket): boolean {
  return a.timestamp < b.timestamp;
}

/**
 * Returns how many bytes a clip from `start` to `end` (seconds) can take, at most `maxBytes`: the
 * sum of the packets from the group of pictures at `start` on. Reads no packet's data.
 */
export function maxClipBytes(
  video: PresentedVideo,
  range: TimeRange,
  maxBytes: number,
): Promise<number> {
  return withContainerErrors(async () => {
    const span = spanShown(video, range);
    const [start, end] = [toStreamTime(span, range.start), toStreamTime(span, range.end)];
    const sink = new EncodedPacketSink(await span.open());
    const options = { metadataOnly: true };
    const first = await getKeyPacketAt(sink, start, options);
    let bytes = 0;
    if (!first) return bytes;
    for await (const packet of packetsFrom(sink, first, options)) {
      if (packet.timestamp > end + REORDER_SECONDS || bytes >= maxBytes) break;
      bytes += packet.byteLength;
    }
    return Math.min(bytes, maxBytes);
  });
}

/**
 * Copies the frames from `start` to `end` (seconds) into an MP4, or as many as the options admit,
 * at most to the end of the span in which the range begins. Throws what `cutFrameClip` throws.
 */
export async function cutRangeClip(
  video: PresentedVideo,
  range: TimeRange,
  options: RemuxOptions,
): Promise<RangeClip> {
  const span = spanShown(video, range);
  const clip = await cutStream(await span.open(), rangeInSpan(span, range), options);
  const next = video.spans.find((other) => other.start >= span.end && other.start < range.end);
  const isWholeSpan = clip.isComplete && next !== undefined;
  const clipEnd = toPresentationTime(span, clip.endSeconds);
  return {
    ...clip,
    presentationTimes: clip.presentationTimes.map((time) => toPresentationTime(span, time)),
    endSeconds: isWholeSpan ? next.start : Math.min(range.end, clipEnd),
    isComplete: clip.isComplete && next === undefined,
  };
}

/** Returns the first span that a range shows, or the one whose last frame stays on screen. */
function spanShown({ spans }: PresentedVideo, range: TimeRange) {
  return spansIn(spans, range)[0] ?? spanAt(spans, range.start)!;
}

function cutStream(
  track: InputVideoTrack,
  { start, end }: TimeRange,
  { maxBytes, keyPacketsOnly, gapSeconds }: RemuxOptions,
): Promise<RangeClip> {
  return remux(track, start, async (sink, first, copy) => {
    const presentationTimes: number[] = [];
    const isDisposable = await makeDisposablePredicate(track);
    let [bytes, lastKey, clipEnd, isComplete] = [0, first.timestamp, first.timestamp, true];
    for await (const packet of keyPacketsOnly
      ? keyPackets(sink, first)
      : packetsFrom(sink, first)) {
      const reorderSeconds = packet.type === "key" ? 0 : REORDER_SECONDS;
      if (packet.timestamp >= end + reorderSeconds) break;
      if (isDisposable(packet) && isInGap(presentationTimes, packet.timestamp, gapSeconds))
        continue;
      bytes += packet.byteLength;
      if (bytes > maxBytes && presentationTimes.length > 0) {
        isComplete = false;
        if (lastKey > Math.max(start, first.timestamp)) clipEnd = lastKey;
        break;
      }
      if (packet.type === "key") lastKey = packet.timestamp;
      if (packet.timestamp >= first.timestamp) presentationTimes.push(packet.timestamp);
      clipEnd = Math.max(clipEnd, packet.timestamp + packet.duration);
      await copy(packet);
    }
    presentationTimes.sort((a, b) => a - b);
    const atSeconds = Math.max(0, start - first.timestamp);
    return { atSeconds, presentationTimes, endSeconds: Math.min(end, clipEnd), isComplete };
  });
}

/**
 * Tests whether copied frames before and after `seconds` lie at most `gapSeconds` apart.
 * `presentationTimes` are in order of decoding: only the last few can be neighbours.
 */
function isInGap(
  presentationTimes: readonly number[],
  seconds: number,
  gapSeconds: number,
): boolean {
  let [before, after] = [-Infinity, Infinity];
  for (const time of presentationTimes.slice(-REORDERED_FRAMES)) {
    if (time <= seconds) before = Math.max(before, time);
    else after = Math.min(after, time);
  }
  return after - before <= gapSeconds;
}

async function* keyPackets(
  sink: EncodedPacketSink,
  first: EncodedPacket,
): AsyncGenerator<EncodedPacket> {
  for (let key: EncodedPacket | null = first; key; key = await sink.getNextKeyPacket(key))
    yield key;
}

/** Writes a packet at `clipSeconds` of the new file, by default at its own time. */
type CopyPacket = (packet: EncodedPacket, clipSeconds?: number) => Promise<void>;

/**
 * Copies the packets that `choose` selects, from the group of pictures at `seconds` on, into an MP4
 * without decoding. Returns what `choose` returns, with the file. Throws what `cutFrameClip`
 * throws.
 */
export async function remux<T>(
  track: InputVideoTrack,
  seconds: number,
  choose: (sink: EncodedPacketSink, first: EncodedPacket, copy: CopyPacket) => Promise<T>,
): Promise<T & Pick<Clip, "file" | "codec">> {
  const codec = await track.getCodec();
  if (!codec) throw unsupportedCodec(String(await track.getInternalCodecId()));
  return withContainerErrors(async () => {
    const sink = new EncodedPacketSink(track);
    const first = await getKeyPacketAt(sink, seconds);
    if (!first) throw new AppError("unreadable_frame", `No frame at ${seconds} s.`);
    // Chunks come in order, without the spare room that a growing buffer would have.
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    const writable = new WritableStream<StreamTargetChunk>({
      write: ({ data }) => void chunks.push(data),
    });
    const format = new Mp4OutputFormat({ fastStart: "in-memory" });
    const output = new Output({ format, target: new StreamTarget(writable) });
    const source = new EncodedVideoPacketSource(codec);
    // The whole matrix, because a picture may be mirrored.
    const transformationMatrix = await track.getTransformationMatrix();
    output.addVideoTrack(source, { transformationMatrix });
    await output.start();
    const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
    const chosen = await choose(
      sink,
      first,
      async (packet, clipSeconds = packet.timestamp - first.timestamp) => {
        if (clipSeconds < 0) return; // leading picture of the previous group
        const duration = packet.duration || MIN_FRAME_SECONDS;
        const copied = packet.clone({ timestamp: clipSeconds, duration });
        await source.add(copied, decoderConfig && { decoderConfig });
      },
    );
    await output.finalize();
    return { ...chosen, codec, file: new Blob(chunks) };
  });
}

export function unsupportedCodec(name: string): AppError {
  return new AppError(
    "unsupported_codec",
    `The video is coded as ${name}, which can't be decoded here. Convert it to H.264 in MP4.`,
  );
}
