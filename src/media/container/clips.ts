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
import { withContainerErrors } from "./open-container.ts";
import { getKeyPacketAt, packetsFrom, makeDisposablePredicate } from "./packets.ts";
import { type PresentedVideo, toStreamTime } from "./timeline.ts";

/** A frame may be stored this long before one that is presented before it. */
export const REORDER_SECONDS = 1;
/** Duration of a frame whose container states none, as Matroska does of the last one. */
const MIN_FRAME_SECONDS = 0.04;
export interface Clip {
  /** A standalone MP4. */
  file: Blob;
  codec: VideoCodec;
  /** Time in the clip of the requested frame, or of the start of the requested range. */
  atSeconds: number;
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
  const [{ track }, seconds] = [video, toStreamTime(video, presentedSeconds)];
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
export function maxClipBytes(video: PresentedVideo, range: TimeRange, maxBytes: number) {
  return withContainerErrors(async () => {
    const [start, end] = [toStreamTime(video, range.start), toStreamTime(video, range.end)];
    const sink = new EncodedPacketSink(video.track);
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
