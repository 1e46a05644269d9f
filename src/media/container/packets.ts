import {
  type EncodedPacket,
  EncodedPacketSink,
  type InputVideoTrack,
  type PacketRetrievalOptions,
  type PacketStats,
} from "mediabunny";

/**
 * Returns the key packet of the group of pictures at `seconds`; the first one if the video starts
 * later, null if there is none.
 */
export async function getKeyPacketAt(
  sink: EncodedPacketSink,
  seconds: number,
  options: PacketRetrievalOptions = {},
): Promise<EncodedPacket | null> {
  return (await sink.getKeyPacket(seconds, options)) ?? (await sink.getFirstKeyPacket(options));
}

/**
 * Yields packets in order of decoding, from `first` on. Unlike `EncodedPacketSink.packets`, reads
 * no packet before it is asked for: that one reads a second's worth of packets ahead, each with the
 * bytes around it, which is over 100 MB where audio lies between large frames.
 */
export async function* packetsFrom(
  sink: EncodedPacketSink,
  first: EncodedPacket,
  options: PacketRetrievalOptions = {},
): AsyncGenerator<EncodedPacket> {
  for (let packet: EncodedPacket | null = first; packet;) {
    yield packet;
    packet = await sink.getNextPacket(packet, options);
  }
}

/** Types of NAL units that hold a coded picture or a part of one (ITU-T H.264, table 7-1). */
const SLICE_TYPES = { first: 1, last: 5 };

/**
 * Tests whether no other frame depends on a packet's, so that a stream stays decodable without it.
 */
export type IsDisposable = (packet: EncodedPacket) => boolean;

/**
 * Makes a test for disposable frames of an H.264 track: no other frame depends on them
 * (`nal_ref_idc` is 0), about half of what usual encoders write. No frame is disposable in tracks
 * of another codec, nor where NAL units have start codes instead of lengths.
 */
export async function makeDisposablePredicate(
  track: Pick<InputVideoTrack, "getCodec" | "getDecoderConfig">,
): Promise<IsDisposable> {
  if ((await track.getCodec()) !== "avc") return () => false;
  const { description } = (await track.getDecoderConfig()) ?? {};
  if (!description) return () => false;
  const lengthBytes = (toBytes(description)[4]! & 3) + 1; // ISO/IEC 14496-15, 5.3.3.1
  return ({ data }) => isDisposable(data, lengthBytes);
}

/** `lengthBytes` is the size of the length field before each NAL unit. */
function isDisposable(data: Uint8Array, lengthBytes: number): boolean {
  for (let at = 0; at + lengthBytes < data.length;) {
    let length = 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + data[at + i]!;
    const header = data[at + lengthBytes]!;
    const type = header & 0x1f;
    if (type >= SLICE_TYPES.first && type <= SLICE_TYPES.last) return (header >> 5) % 4 === 0;
    at += lengthBytes + length;
  }
  return false;
}

function toBytes(source: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** Less than the duration of a frame. */
const SAME_SECONDS = 0.002;

/**
 * Returns the frames a second of the packets that `stats` are of. Packets of VP8 and VP9 that only
 * others refer to aren't shown, and aren't counted: encoders give them the time of a neighbour.
 * Infinity if all frames are at one time; null without frames, and for a single one without a
 * duration.
 */
export async function getFrameRate(
  track: InputVideoTrack,
  { packetCount, averagePacketRate }: PacketStats,
): Promise<number | null> {
  if (packetCount <= 1 && averagePacketRate === Infinity) return null;
  const codec = await track.getCodec();
  let [packets, shown, last] = [0, 0, -Infinity];
  if (codec === "vp8" || codec === "vp9") {
    const sink = new EncodedPacketSink(track);
    const first = await sink.getFirstPacket({ metadataOnly: true });
    for await (const { timestamp } of packetsFrom(sink, first!, { metadataOnly: true })) {
      if (++packets > packetCount) break;
      if (timestamp - last > SAME_SECONDS) shown++;
      last = timestamp;
    }
  }
  return averagePacketRate * (shown > 0 ? shown / packetCount : 1) || null;
}
