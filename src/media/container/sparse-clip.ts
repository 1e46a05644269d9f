import { type EncodedPacket, EncodedPacketSink } from "mediabunny";
import { partitionPoint } from "../../lists.ts";
import type { TimeRange } from "../../time-range.ts";
import { type Clip, remux, REORDER_SECONDS } from "./clips.ts";
import { withContainerErrors } from "./open-container.ts";
import {
  getKeyPacketAt,
  packetsFrom,
  makeDisposablePredicate,
  type IsDisposable,
} from "./packets.ts";
import {
  isPresented,
  type PresentedVideo,
  toPresentationTime,
  toStreamRange,
  toStreamTime,
} from "./timeline.ts";

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

const MIN_FRAME_SECONDS = 0.5;
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
    const isDisposable = await makeDisposablePredicate(track);
    while (framesDone < frames.length) {
      const gop = await readGop(sink, frames.slice(framesDone), isDisposable, maxBytes - bytes);
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
    const frameDuration = Math.max(MIN_FRAME_SECONDS, MIN_CLIP_SECONDS / presentationTimes.length);
    const clipTimes = scheduleFrames(presentationOrder, frameDuration);
    for (const packet of decodeOrder) {
      await copy(packet.clone({ duration: frameDuration }), clipTimes.get(packet));
    }
    return { atSeconds: frameDuration, presentationTimes, frameDuration };
  });
}

/**
 * Reads the packets of the group of pictures at the first of `frames`, which are times of the
 * stream: those that its chosen frames need, without the disposable rest, up to `maxBytes`.
 * `isCut`: there were more. `frameCount` is how many of `frames` lie in the group, `found` has
 * their packets.
 */
async function readGop(
  sink: EncodedPacketSink,
  frames: readonly number[],
  isDisposable: IsDisposable,
  maxBytes: number,
) {
  const key = await getKeyPacketAt(sink, frames[0]!);
  const packets: EncodedPacket[] = [];
  const found = new Set<EncodedPacket>();
  let [bytes, isCut] = [0, false];
  if (!key) return { packets, bytes, isCut, found, frameCount: frames.length };
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
    if (!isChosen && isDisposable(packet)) continue;
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
