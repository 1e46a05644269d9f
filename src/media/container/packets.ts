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

/**
 * Returns the frames a second of the packets that `stats` are of. Packets of VP8 and VP9 that only
 * others refer to aren't shown, and aren't counted. Infinity if all frames are at one time; null
 * without frames, and for a single one without a duration.
 */
export async function getFrameRate(
  track: InputVideoTrack,
  { packetCount, averagePacketRate }: PacketStats,
): Promise<number | null> {
  if (packetCount <= 1 && averagePacketRate === Infinity) return null;
  const isHidden = HIDDEN[(await track.getCodec()) ?? ""];
  let [packets, shown] = [0, 0];
  if (isHidden) {
    for await (const { data } of new EncodedPacketSink(track).packets()) {
      if (++packets > packetCount) break;
      if (!isHidden(data)) shown++;
    }
  }
  return averagePacketRate * (shown > 0 ? shown / packetCount : 1) || null;
}

/** Whether a packet only has a hidden frame, by codec. */
const HIDDEN: Readonly<Record<string, (data: Uint8Array) => boolean>> = {
  // RFC 6386, 9.1: the bit show_frame.
  vp8: ([tag = 0]) => (tag & 0x10) === 0,
  // VP9 bitstream specification, 6.2: show_existing_frame, show_frame; one bit later in profile 3.
  vp9: (data) => {
    const [header = 0] = data;
    const flags = (header & 0x30) === 0x30 ? header << 1 : header;
    return (flags & 0x0a) === 0 && !isSuperframe(data);
  },
};

/** Whether a packet of VP9 has several frames, the last of which is shown (annex B). */
function isSuperframe(data: Uint8Array): boolean {
  const marker = data.at(-1) ?? 0;
  const indexBytes = 2 + (((marker >> 3) & 3) + 1) * ((marker & 7) + 1);
  return (marker & 0xe0) === 0xc0 && data.at(-indexBytes) === marker;
}
