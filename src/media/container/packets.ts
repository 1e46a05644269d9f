import type { EncodedPacket, EncodedPacketSink, PacketRetrievalOptions } from "mediabunny";

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
