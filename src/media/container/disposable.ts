import type { EncodedPacket, InputVideoTrack } from "mediabunny";

/** Types of NAL units that hold a coded picture or a part of one (ITU-T H.264, table 7-1). */
const SLICE_TYPES = { first: 1, last: 5 };

/**
 * Tests whether no other frame depends on a packet's, so that a stream stays decodable without it.
 */
export type IsDisposable = (packet: EncodedPacket) => boolean;

/**
 * Makes a test for disposable frames of an H.264 track: no other frame depends on them
 * (`nal_ref_idc` is 0), about half of what usual encoders write. No frame is disposable in tracks
 * of another codec, nor where NAL units have start codes instead of lengths, as in MPEG-TS.
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
