import type { EncodedPacket, InputVideoTrack } from "mediabunny";

/** Types of NAL units that hold a picture or a part of one (ITU-T H.264, table 7-1). */
const PICTURE = { first: 1, last: 5 };

/** Whether no other picture is decoded from a packet's, so that a stream stays whole without it. */
export type IsDisposable = (packet: EncodedPacket) => boolean;

/**
 * Tells the pictures of an H.264 track on which no other depends (`nal_ref_idc` is 0): about half of what
 * usual encoders make. None of other tracks, and where the units have no lengths but start codes, as in MPEG-TS.
 */
export async function findDisposable(
  track: Pick<InputVideoTrack, "getCodec" | "getDecoderConfig">,
): Promise<IsDisposable> {
  if ((await track.getCodec()) !== "avc") return () => false;
  const { description } = (await track.getDecoderConfig()) ?? {};
  if (!description) return () => false;
  const lengthBytes = (bytesOf(description)[4]! & 3) + 1; // ISO/IEC 14496-15, 5.3.3.1
  return ({ data }) => isDisposable(data, lengthBytes);
}

function isDisposable(data: Uint8Array, lengthBytes: number): boolean {
  for (let at = 0; at + lengthBytes < data.length;) {
    let length = 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + data[at + i]!;
    const header = data[at + lengthBytes]!;
    const type = header & 0x1f;
    if (type >= PICTURE.first && type <= PICTURE.last) return (header >> 5) % 4 === 0;
    at += lengthBytes + length;
  }
  return false;
}

function bytesOf(source: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
