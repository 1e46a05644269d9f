import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import { type Clip, copying } from "./clips.ts";
import { reading } from "./container.ts";
import { findDisposable, type IsDisposable } from "./disposable.ts";
import type { ListedPicture } from "./doubts.ts";

/** Chosen pictures of a video, one after another, whatever lies between them. */
export interface Montage extends Clip {
  /** When its pictures begin to be shown in the video, in order. */
  shownAt: number[];
  /** How long each is shown in the clip, in seconds. */
  heldSeconds: number;
}

/** As cutting clips does: pictures may be stored this long before one that is shown sooner. */
const REORDER_SECONDS = 1;
const HELD_SECONDS = 0.5;
/** The least that is looked at in one operation of the FRAMES binding. */
const MIN_SECONDS = 1;
/**
 * Of the time that a picture is held: by how much it begins before its turn, and where it makes way for
 * the pictures that only help to decode the next one. So it is shown at the start and in the middle of
 * its turn, whichever is looked at.
 */
const EARLY = 0.125;
const OVER = 0.625;

/** What a container says of the pictures from `from` to `to` (seconds), in order, without reading them. */
export function listPictures(
  track: InputVideoTrack,
  from: number,
  to: number,
): Promise<ListedPicture[]> {
  return reading(async () => {
    const sink = new EncodedPacketSink(track);
    const options = { metadataOnly: true };
    const first =
      (await sink.getKeyPacket(from, options)) ?? (await sink.getFirstKeyPacket(options));
    if (!first) return [];
    const pictures: ListedPicture[] = [];
    for await (const { timestamp, type } of sink.packets(first, undefined, options)) {
      if (timestamp > to + REORDER_SECONDS) break;
      if (timestamp < from || timestamp >= to) continue;
      pictures.push({ seconds: timestamp, isKey: type === "key" });
    }
    return pictures.sort((a, b) => a.seconds - b.seconds);
  });
}

/**
 * Copies pictures, named by when they begin to be shown (rising), into one MP4 without decoding, as many
 * as fit into `maxBytes` with those that they are decoded from; at least one. Those in between take no
 * time in it, so that one operation of the FRAMES binding shows pictures from all over a video. Throws as
 * `cutClip` does.
 */
export function cutMontage(
  track: InputVideoTrack,
  wanted: readonly number[],
  maxBytes: number,
): Promise<Montage> {
  return copying(track, wanted[0]!, async (sink, _, copy) => {
    const packets: EncodedPacket[] = [];
    const turns: { packet: EncodedPacket; isWanted: boolean }[] = [];
    let [bytes, taken] = [0, 0];
    const isDisposable = await findDisposable(track);
    while (taken < wanted.length) {
      const group = await readGroup(sink, wanted.slice(taken), isDisposable);
      bytes += group.packets.reduce((sum, { byteLength }) => sum + byteLength, 0);
      if (bytes > maxBytes && taken > 0) break;
      packets.push(...group.packets);
      const shown = group.packets.toSorted((a, b) => a.timestamp - b.timestamp);
      for (const packet of shown)
        turns.push({ packet, isWanted: group.wanted.has(packet.timestamp) });
      taken += group.count;
    }
    const shownAt = turns.flatMap(({ packet, isWanted }) => (isWanted ? [packet.timestamp] : []));
    const heldSeconds = Math.max(HELD_SECONDS, MIN_SECONDS / shownAt.length);
    const times = spread(turns, heldSeconds);
    for (const packet of packets) {
      await copy(packet.clone({ duration: heldSeconds }), times.get(packet));
    }
    return { atSeconds: heldSeconds, shownAt, heldSeconds };
  });
}

/** The packets from a key picture on that the first of the wanted pictures, and others near it, need. */
async function readGroup(sink: EncodedPacketSink, wanted: number[], isDisposable: IsDisposable) {
  const key = (await sink.getKeyPacket(wanted[0]!)) ?? (await sink.getFirstKeyPacket());
  const packets: EncodedPacket[] = [];
  const found = new Set<number>();
  if (!key) return { packets, wanted: found, count: wanted.length };
  const next = await sink.getNextKeyPacket(key, { metadataOnly: true });
  const own = new Set(wanted.filter((time) => !next || time < next.timestamp));
  const last = Math.max(...own);
  for await (const packet of sink.packets(key)) {
    if (packet.timestamp > last + REORDER_SECONDS) break;
    if (packet.timestamp < key.timestamp) continue; // leads into the group before
    const isWanted = own.has(packet.timestamp);
    if (isWanted || !isDisposable(packet)) packets.push(packet);
    if (isWanted) found.add(packet.timestamp);
    if (found.size === own.size) break;
  }
  return { packets, wanted: found, count: own.size };
}

/** When each packet is shown in the clip: the wanted ones in turn, the others between two turns. */
function spread(
  turns: { packet: EncodedPacket; isWanted: boolean }[],
  heldSeconds: number,
): Map<EncodedPacket, number> {
  const times = new Map<EncodedPacket, number>();
  let turn = 0;
  for (let at = 0; at < turns.length;) {
    let end = at;
    while (end < turns.length && !turns[end]!.isWanted) end++;
    const [from, to] = [turn === 0 ? 0 : turn + OVER, turn + 1 - EARLY];
    for (let i = at; i < end; i++) {
      const share = (i - at) / (end - at);
      times.set(turns[i]!.packet, (from + (to - from) * share) * heldSeconds);
    }
    const wanted = turns[end];
    if (wanted) times.set(wanted.packet, end === 0 ? 0 : to * heldSeconds);
    turn++;
    at = end + 1;
  }
  return times;
}
