import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import type { TimeRange } from "../../time-range.ts";
import { type Clip, remux, REORDER_SECONDS } from "./clips.ts";
import { makeDisposablePredicate, type IsDisposable } from "./disposable.ts";
import { withContainerErrors } from "./open-container.ts";
import { getKeyPacketAt, packetsFrom } from "./packets.ts";
import type { PresentedVideo } from "./presented-track.ts";
import { rangeInSpan, spanAt, spansIn, toPresentationTime, toStreamTime } from "./timeline.ts";

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
 * Lists the frames from `start` to `end` (seconds) in order of presentation, without reading them.
 */
export function listFrames(
  video: PresentedVideo,
  start: number,
  end: number,
): Promise<FrameEntry[]> {
  return withContainerErrors(async () => {
    const frames: FrameEntry[] = [];
    for (const span of spansIn(video.spans, { start, end })) {
      const track = await span.open();
      for (const frame of await listStreamFrames(track, rangeInSpan(span, { start, end })))
        frames.push({ ...frame, seconds: toPresentationTime(span, frame.seconds) });
    }
    return frames.sort((a, b) => a.seconds - b.seconds);
  });
}

async function listStreamFrames(track: InputVideoTrack, { start, end }: TimeRange) {
  const sink = new EncodedPacketSink(track);
  const options = { metadataOnly: true };
  const first = await getKeyPacketAt(sink, start, options);
  const frames: FrameEntry[] = [];
  if (!first) return frames;
  for await (const { timestamp, type } of packetsFrom(sink, first, options)) {
    if (timestamp > end + REORDER_SECONDS) break;
    if (timestamp < start || timestamp >= end) continue;
    frames.push({ seconds: timestamp, isKey: type === "key" });
  }
  return frames;
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
  const spans = times.map((seconds) => spanAt(video.spans, seconds)!);
  // Parts of a file may be coded in other ways.
  const end = spans.findIndex(({ part }) => part !== spans[0]!.part);
  const frames = times
    .slice(0, end === -1 ? undefined : end)
    .map((seconds, i) => ({ seconds, streamSeconds: toStreamTime(spans[i]!, seconds) }));
  return cutStreamFrames(await spans[0]!.open(), frames, maxBytes);
}

/** A frame to copy: when it is presented, and when it is in the stream. */
interface WantedFrame {
  seconds: number;
  streamSeconds: number;
}

function cutStreamFrames(
  track: InputVideoTrack,
  frames: readonly WantedFrame[],
  maxBytes: number,
): Promise<SparseClip> {
  return remux(track, frames[0]!.streamSeconds, async (sink, _, copy) => {
    const decodeOrder: EncodedPacket[] = [];
    const presentationOrder: ClipPacket[] = [];
    const presentationTimes: number[] = [];
    let [bytes, framesDone] = [0, 0];
    const isDisposable = await makeDisposablePredicate(track);
    while (framesDone < frames.length) {
      const gop = await readGop(sink, frames.slice(framesDone), isDisposable, maxBytes - bytes);
      if (gop.isCut && (framesDone > 0 || gop.found.size === 0)) break;
      bytes += gop.bytes;
      decodeOrder.push(...gop.packets);
      for (const packet of gop.packets.toSorted((a, b) => a.timestamp - b.timestamp)) {
        const seconds = gop.found.get(packet);
        presentationOrder.push({ packet, isChosen: seconds !== undefined });
        if (seconds !== undefined) presentationTimes.push(seconds);
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
 * Reads the packets of the group of pictures at the first of `frames`: those that its chosen frames
 * need, without the disposable rest, up to `maxBytes`. `isCut`: there were more. `frameCount` is
 * how many of `frames` lie in the group, `found` has the presentation times of those with a packet.
 */
async function readGop(
  sink: EncodedPacketSink,
  frames: WantedFrame[],
  isDisposable: IsDisposable,
  maxBytes: number,
) {
  const key = await getKeyPacketAt(sink, frames[0]!.streamSeconds);
  const packets: EncodedPacket[] = [];
  const found = new Map<EncodedPacket, number>();
  let [bytes, isCut] = [0, false];
  if (!key) return { packets, bytes, isCut, found, frameCount: frames.length };
  const nextKey = await sink.getNextKeyPacket(key, { metadataOnly: true });
  const frameCount = countInGop(frames, nextKey?.timestamp ?? Infinity);
  const last = frames[frameCount - 1]!.streamSeconds;
  const secondsByTick = new Map(
    frames.slice(0, frameCount).map((frame) => [toTicks(frame.streamSeconds), frame.seconds]),
  );
  for await (const packet of packetsFrom(sink, key)) {
    if (packet.timestamp > last + REORDER_SECONDS) break;
    if (packet.timestamp < key.timestamp) continue; // leading picture of the previous group
    const seconds = secondsByTick.get(toTicks(packet.timestamp));
    if (seconds === undefined && isDisposable(packet)) continue;
    isCut = bytes + packet.byteLength > maxBytes && packets.length > 0;
    if (isCut) break;
    bytes += packet.byteLength;
    packets.push(packet);
    if (seconds !== undefined) found.set(packet, seconds);
    if (found.size === secondsByTick.size) break;
  }
  return { packets, bytes, isCut, found, frameCount };
}

/** Counts the frames from the first on that rise and lie before the next group, at least one. */
function countInGop(frames: readonly WantedFrame[], end: number): number {
  const next = frames.findIndex(({ streamSeconds }, i) => {
    return (
      i > 0 && (streamSeconds >= end - TICK_SECONDS || streamSeconds < frames[i - 1]!.streamSeconds)
    );
  });
  return next === -1 ? frames.length : next;
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
