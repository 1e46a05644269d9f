import {
  BufferTarget,
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
  type VideoCodec,
} from "mediabunny";
import { AppError } from "../errors.ts";
import { reading } from "./container.ts";
import { unsupportedCodec } from "./decoder.ts";
import { findDisposable } from "./disposable.ts";

/** Pictures may be stored ahead of the one that is shown before them: look this far past the moment. */
const REORDER_SECONDS = 1;
/** H.264's most pictures that are decoded ahead of one that is shown before them. */
const REORDERED = 17;

export interface Clip {
  /** A standalone MP4. */
  bytes: Uint8Array;
  codec: VideoCodec;
  /** Where the wanted moment is in it, in seconds. */
  atSeconds: number;
}

/** A clip that holds a stretch of a video. Times are seconds of the video. */
export interface Stretch extends Clip {
  /** When its pictures begin to be shown, in order. */
  shownAt: number[];
  /** Where the last of the wanted ones ends. */
  endSeconds: number;
  /** False where `maxBytes` left some out. */
  isWhole: boolean;
}

/** How a stretch is copied. */
export interface CopyRules {
  /** What would be more ends with the group of pictures before; one group, somewhere in it. */
  maxBytes: number;
  /** Of each group of pictures the first alone. */
  keysOnly: boolean;
  /** Pictures on which no other depends are left out where so many seconds at most are left without one. */
  gapSeconds: number;
}

/**
 * Copies the picture that is shown at a moment into an MP4 of its own, after those that it is decoded from.
 * Throws `unreadable_frame` where the video has no picture there, and `unsupported_codec` where nobody knows
 * how it is coded.
 */
export function cutClip(track: InputVideoTrack, seconds: number): Promise<Clip> {
  return copying(track, seconds, async (sink, first, copy) => {
    const shown = (await sink.getPacket(seconds, { metadataOnly: true })) ?? first;
    const isDisposable = await findDisposable(track);
    for await (const packet of sink.packets(first)) {
      const isShown = packet.sequenceNumber === shown.sequenceNumber;
      if (isShown || !isDisposable(packet)) await copy(packet);
      if (isShown || packet.timestamp > shown.timestamp + REORDER_SECONDS) break;
    }
    const inTheMiddle = shown.timestamp + shown.duration / 2;
    return {
      atSeconds: Math.min(Math.max(seconds, shown.timestamp), inTheMiddle) - first.timestamp,
    };
  });
}

/** As `cutClip`, the pictures from `from` to `to` (seconds) or as many of them as the rules let in. */
export function cutStretch(
  track: InputVideoTrack,
  from: number,
  to: number,
  { maxBytes, keysOnly, gapSeconds }: CopyRules,
): Promise<Stretch> {
  return copying(track, from, async (sink, first, copy) => {
    const shownAt: number[] = [];
    const isDisposable = await findDisposable(track);
    let [bytes, lastKey, end, isWhole] = [0, first.timestamp, first.timestamp, true];
    for await (const packet of keysOnly ? keyPackets(sink, first) : sink.packets(first)) {
      const reordered = packet.type === "key" ? 0 : REORDER_SECONDS;
      if (packet.timestamp >= to + reordered) break;
      if (isDisposable(packet) && isBetween(shownAt, packet.timestamp, gapSeconds)) continue;
      bytes += packet.byteLength;
      if (bytes > maxBytes && shownAt.length > 0) {
        isWhole = false;
        if (lastKey > Math.max(from, first.timestamp)) end = lastKey;
        break;
      }
      if (packet.type === "key") lastKey = packet.timestamp;
      if (packet.timestamp >= first.timestamp) shownAt.push(packet.timestamp);
      end = Math.max(end, packet.timestamp + packet.duration);
      await copy(packet);
    }
    shownAt.sort((a, b) => a - b);
    const atSeconds = Math.max(0, from - first.timestamp);
    return { atSeconds, shownAt, endSeconds: Math.min(to, end), isWhole };
  });
}

/** Whether of the pictures so far, near the end of which it belongs, one before and one after it are so close. */
function isBetween(shownAt: readonly number[], seconds: number, gapSeconds: number): boolean {
  let [before, after] = [-Infinity, Infinity];
  for (const time of shownAt.slice(-REORDERED)) {
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

/** Writes a packet, at its own time where no other (in seconds of the new file) is given. */
type Copy = (packet: EncodedPacket, at?: number) => Promise<void>;

/** Has `choose` copy packets from the group of pictures at a moment on into a new file. */
export async function copying<T>(
  track: InputVideoTrack,
  seconds: number,
  choose: (sink: EncodedPacketSink, first: EncodedPacket, copy: Copy) => Promise<T>,
): Promise<T & Pick<Clip, "bytes" | "codec">> {
  const codec = await track.getCodec();
  if (!codec) throw unsupportedCodec(String(await track.getInternalCodecId()));
  return reading(async () => {
    const sink = new EncodedPacketSink(track);
    const first = (await sink.getKeyPacket(seconds)) ?? (await sink.getFirstKeyPacket());
    if (!first) throw new AppError("unreadable_frame", `No picture at ${seconds} s.`);
    const format = new Mp4OutputFormat({ fastStart: "in-memory" });
    const output = new Output({ format, target: new BufferTarget() });
    const source = new EncodedVideoPacketSource(codec);
    output.addVideoTrack(source, { rotation: await track.getRotation() });
    await output.start();
    const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
    const chosen = await choose(
      sink,
      first,
      async (packet, at = packet.timestamp - first.timestamp) => {
        if (at < 0) return; // leads into the group before
        await source.add(packet.clone({ timestamp: at }), decoderConfig && { decoderConfig });
      },
    );
    await output.finalize();
    return { ...chosen, codec, bytes: new Uint8Array(output.target.buffer!) };
  });
}
