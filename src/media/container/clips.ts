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
import { partitionPoint } from "../../lists.ts";
import type { TimeRange } from "../../time-range.ts";
import { withContainerErrors } from "./open-container.ts";
import { getKeyPacketAt, packetsFrom } from "./packets.ts";
import {
  type PresentedVideo,
  toStreamTime,
  isPresented,
  toPresentationTime,
  toStreamRange,
} from "./timeline.ts";

/** A frame may be stored this long before one that is presented before it. */
const REORDER_SECONDS = 1;
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
    const { packets } = await readGop(sink, [target.timestamp], maxBytes);
    for (const packet of packets) await copy(packet);
    const shown = packets
      .filter(({ timestamp }) => timestamp <= target.timestamp)
      .reduce((a, b) => (b.timestamp > a.timestamp ? b : a), first);
    const middle = shown.timestamp + shown.duration / 2;
    return { atSeconds: Math.min(Math.max(seconds, shown.timestamp), middle) - first.timestamp };
  });
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
async function remux<T>(
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

/** A frame as its container lists it. */
export interface FrameEntry {
  /** Presentation time in the video. */
  seconds: number;
  /** Key packet. Encoders insert one where a frame is all new, and at intervals. */
  isKey: boolean;
}

/** Chosen frames of a video, one after another, whatever lies between them. */
export interface SparseClip extends Clip {
  /** Presentation times of its frames in the video, in order. */
  presentationTimes: number[];
  /** Duration of each frame in the clip, in seconds. */
  frameDuration: number;
}

const MIN_SLOT_SECONDS = 0.5;
/** Shortest duration that one operation of the FRAMES binding decodes. */
const MIN_CLIP_SECONDS = 1;
/**
 * Shares of the slot of a chosen frame: it begins `EARLY` before its slot, and `AUXILIARY_START`
 * into it the frames begin that are only needed to decode the next one. So the chosen frame is on
 * screen at the start and in the middle of its slot, whichever the binding takes.
 */
const EARLY = 0.125;
const AUXILIARY_START = 0.625;

/** Less than the distance of two frames. */
const TICK_SECONDS = 1e-5;

/** A packet of the clip: a chosen frame, or one that is only needed to decode others. */
interface ClipPacket {
  packet: EncodedPacket;
  isChosen: boolean;
}

/**
 * Lists the frames that a time range shows in order of presentation, without reading them: that on
 * screen at its start, and those that begin in it.
 */
export function listFrames(video: PresentedVideo, range: TimeRange): Promise<FrameEntry[]> {
  return withContainerErrors(async () => {
    const sink = new EncodedPacketSink(video.track);
    const options = { metadataOnly: true };
    const frames: FrameEntry[] = [];
    if (!isPresented(video, range)) return frames;
    const { start, end } = toStreamRange(video, range);
    const first = await getKeyPacketAt(sink, start, options);
    if (!first) return frames;
    for await (const { timestamp, type } of packetsFrom(sink, first, options)) {
      if (timestamp > end + REORDER_SECONDS) break;
      if (timestamp < first.timestamp || timestamp >= end) continue;
      frames.push({ seconds: toPresentationTime(video, timestamp), isKey: type === "key" });
    }
    frames.sort((a, b) => a.seconds - b.seconds);
    const begun = partitionPoint(frames, ({ seconds }) => seconds <= range.start + TICK_SECONDS);
    return frames.slice(Math.max(0, begun - 1));
  });
}

/**
 * Copies frames, given by their presentation times (rising), into one MP4 without decoding: as many
 * as fit into `maxBytes` with the frames that they depend on, maybe none. Frames in between take no
 * slot, so that one operation of the FRAMES binding decodes frames from all over a video. Throws
 * what `cutFrameClip` throws.
 */
export async function cutSparseClip(
  video: PresentedVideo,
  times: readonly number[],
  maxBytes: number,
): Promise<SparseClip> {
  const { track } = video;
  const frames = times.map((seconds) => toStreamTime(video, seconds));
  return remux(track, frames[0]!, async (sink, _, copy) => {
    const decodeOrder: EncodedPacket[] = [];
    const presentationOrder: ClipPacket[] = [];
    const presentationTimes: number[] = [];
    let [bytes, framesDone] = [0, 0];
    while (framesDone < frames.length) {
      const gop = await readGop(sink, frames.slice(framesDone), maxBytes - bytes);
      if (gop.isCut && (framesDone > 0 || gop.found.size === 0)) break;
      bytes += gop.bytes;
      for (const packet of gop.packets) decodeOrder.push(packet);
      for (const packet of gop.packets.toSorted((a, b) => a.timestamp - b.timestamp)) {
        const isChosen = gop.found.has(packet);
        presentationOrder.push({ packet, isChosen });
        if (isChosen) presentationTimes.push(toPresentationTime(video, packet.timestamp));
      }
      framesDone += gop.frameCount;
      if (gop.isCut) break;
    }
    const frameDuration = Math.max(MIN_SLOT_SECONDS, MIN_CLIP_SECONDS / presentationTimes.length);
    const clipTimes = scheduleFrames(presentationOrder, frameDuration);
    for (const packet of decodeOrder) {
      await copy(packet.clone({ duration: frameDuration }), clipTimes.get(packet));
    }
    return { atSeconds: frameDuration, presentationTimes, frameDuration };
  });
}

/**
 * Reads the packets of the group of pictures at the first of `frames`, which are times of the
 * stream: those that its chosen frames need, up to `maxBytes`.
 * `isCut`: there were more. `frameCount` is how many of `frames` lie in the group, `found` has
 * their packets. The track has a key packet.
 */
async function readGop(sink: EncodedPacketSink, frames: readonly number[], maxBytes: number) {
  const key = (await getKeyPacketAt(sink, frames[0]!))!;
  const packets: EncodedPacket[] = [];
  const found = new Set<EncodedPacket>();
  let [bytes, isCut] = [0, false];
  const nextKey = await sink.getNextKeyPacket(key, { metadataOnly: true });
  const end = (nextKey?.timestamp ?? Infinity) - TICK_SECONDS;
  const frameCount = Math.max(
    1,
    partitionPoint(frames, (seconds) => seconds < end),
  );
  const ticks = new Set(frames.slice(0, frameCount).map(toTicks));
  for await (const packet of packetsFrom(sink, key)) {
    if (packet.timestamp > frames[frameCount - 1]! + REORDER_SECONDS) break;
    if (packet.timestamp < key.timestamp) continue; // leading picture of the previous group
    const isChosen = ticks.has(toTicks(packet.timestamp));
    isCut = bytes + packet.byteLength > maxBytes && packets.length > 0;
    if (isCut) break;
    bytes += packet.byteLength;
    packets.push(packet);
    if (isChosen) found.add(packet);
    if (found.size === ticks.size) break;
  }
  return { packets, bytes, isCut, found, frameCount };
}

/** Identifies a frame by its time, whatever the rounding error. */
function toTicks(seconds: number): number {
  return Math.round(seconds / TICK_SECONDS);
}

/**
 * Assigns each packet its time in the clip: a slot to each chosen frame, the others between two
 * slots.
 */
function scheduleFrames(packets: ClipPacket[], frameDuration: number): Map<EncodedPacket, number> {
  const times = new Map<EncodedPacket, number>();
  let slot = 0;
  for (let i = 0; i < packets.length;) {
    let end = i;
    while (end < packets.length && !packets[end]!.isChosen) end++;
    const [from, to] = [slot === 0 ? 0 : slot + AUXILIARY_START, slot + 1 - EARLY];
    for (let j = i; j < end; j++) {
      const share = (j - i) / (end - i);
      times.set(packets[j]!.packet, (from + (to - from) * share) * frameDuration);
    }
    const chosen = packets[end];
    if (chosen) times.set(chosen.packet, end === 0 ? 0 : to * frameDuration);
    slot++;
    i = end + 1;
  }
  return times;
}
