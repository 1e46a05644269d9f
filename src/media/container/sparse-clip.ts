import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import { type Clip, remux, REORDER_SECONDS } from "./clips.ts";
import { withContainerErrors } from "./open-container.ts";
import { getKeyPacketAt, packetsFrom } from "./packets.ts";
import { makeDisposablePredicate, type IsDisposable } from "./disposable.ts";

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

/** A packet of the clip: a chosen frame, or one that is only needed to decode others. */
interface ClipPacket {
  packet: EncodedPacket;
  isChosen: boolean;
}

/**
 * Lists the frames from `start` to `end` (seconds) in order of presentation, without reading them.
 */
export function listFrames(
  track: InputVideoTrack,
  start: number,
  end: number,
): Promise<FrameEntry[]> {
  return withContainerErrors(async () => {
    const sink = new EncodedPacketSink(track);
    const options = { metadataOnly: true };
    const first = await getKeyPacketAt(sink, start, options);
    if (!first) return [];
    const frames: FrameEntry[] = [];
    for await (const { timestamp, type } of packetsFrom(sink, first, options)) {
      if (timestamp > end + REORDER_SECONDS) break;
      if (timestamp < start || timestamp >= end) continue;
      frames.push({ seconds: timestamp, isKey: type === "key" });
    }
    return frames.sort((a, b) => a.seconds - b.seconds);
  });
}

/**
 * Copies frames, given by their presentation times (rising), into one MP4 without decoding: as many
 * as fit into `maxBytes` with the frames that they depend on, maybe none. Frames in between take no
 * slot, so that one operation of the FRAMES binding decodes frames from all over a video. Throws
 * what `cutFrameClip` throws.
 */
export function cutSparseClip(
  track: InputVideoTrack,
  times: readonly number[],
  maxBytes: number,
): Promise<SparseClip> {
  return remux(track, times[0]!, async (sink, _, copy) => {
    const decodeOrder: EncodedPacket[] = [];
    const presentationOrder: ClipPacket[] = [];
    let [bytes, timesDone] = [0, 0];
    const isDisposable = await makeDisposablePredicate(track);
    while (timesDone < times.length) {
      const gop = await readGop(sink, times.slice(timesDone), isDisposable, maxBytes - bytes);
      if (gop.isCut && (timesDone > 0 || gop.found.size === 0)) break;
      bytes += gop.bytes;
      decodeOrder.push(...gop.packets);
      for (const packet of gop.packets.toSorted((a, b) => a.timestamp - b.timestamp))
        presentationOrder.push({ packet, isChosen: gop.found.has(packet.timestamp) });
      timesDone += gop.timeCount;
      if (gop.isCut) break;
    }
    const presentationTimes = presentationOrder.flatMap(({ packet, isChosen }) =>
      isChosen ? [packet.timestamp] : [],
    );
    const frameDuration = Math.max(MIN_FRAME_SECONDS, MIN_CLIP_SECONDS / presentationTimes.length);
    const clipTimes = scheduleFrames(presentationOrder, frameDuration);
    for (const packet of decodeOrder) {
      await copy(packet.clone({ duration: frameDuration }), clipTimes.get(packet));
    }
    return { atSeconds: frameDuration, presentationTimes, frameDuration };
  });
}

/**
 * Reads the packets of the group of pictures at the first of `times`: those that its chosen frames
 * need, without the disposable rest, up to `maxBytes`. `isCut`: there were more. `timeCount` is how
 * many of `times` lie in the group, `found` has those with a packet.
 */
async function readGop(
  sink: EncodedPacketSink,
  times: number[],
  isDisposable: IsDisposable,
  maxBytes: number,
) {
  const key = await getKeyPacketAt(sink, times[0]!);
  const packets: EncodedPacket[] = [];
  const found = new Set<number>();
  let [bytes, isCut] = [0, false];
  if (!key) return { packets, bytes, isCut, found, timeCount: times.length };
  const nextKey = await sink.getNextKeyPacket(key, { metadataOnly: true });
  const gopTimes = new Set(times.filter((time) => !nextKey || time < nextKey.timestamp));
  const last = Math.max(...gopTimes);
  for await (const packet of packetsFrom(sink, key)) {
    if (packet.timestamp > last + REORDER_SECONDS) break;
    if (packet.timestamp < key.timestamp) continue; // leading picture of the previous group
    const isChosen = gopTimes.has(packet.timestamp);
    if (!isChosen && isDisposable(packet)) continue;
    isCut = bytes + packet.byteLength > maxBytes && packets.length > 0;
    if (isCut) break;
    bytes += packet.byteLength;
    packets.push(packet);
    if (isChosen) found.add(packet.timestamp);
    if (found.size === gopTimes.size) break;
  }
  return { packets, bytes, isCut, found, timeCount: gopTimes.size };
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
