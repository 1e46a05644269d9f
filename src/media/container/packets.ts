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
