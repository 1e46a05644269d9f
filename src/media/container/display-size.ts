import {
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Input,
  type InputVideoTrack,
  MPEG_TS,
  MpegTsOutputFormat,
  Output,
} from "mediabunny";

/** Pixels of a track as displayed: rotation and the shape of its pixels applied. */
export async function getDisplaySize(
  track: InputVideoTrack,
): Promise<{ width: number; height: number }> {
  const size = { width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
  const { num, den } = await track.getPixelAspectRatio();
  const ratio = num === den ? await readPixelAspect(track).catch(() => 1) : 1; // damaged
  if (!(ratio > 0)) return size;
  const axis = ratio > 1 === ((await track.getRotation()) % 180 === 0) ? "width" : "height";
  return { ...size, [axis]: Math.round(size[axis] * Math.max(ratio, 1 / ratio)) };
}

/** An empty key picture of each codec: a NAL unit behind its length, of 1 to 4 bytes. */
const EMPTY_PICTURES = {
  avc: Uint8Array.of(0, 0, 0, 1, 0x65),
  hevc: Uint8Array.of(0, 0, 0, 2, 0x26, 1),
};

/**
 * Returns width over height of a pixel, as the parameters of H.264 and HEVC state it; else 1. The
 * library reads them in MPEG-TS only, so they are written into one.
 */
async function readPixelAspect(track: InputVideoTrack): Promise<number> {
  const codec = await track.getCodec();
  const decoderConfig = await track.getDecoderConfig();
  if ((codec !== "avc" && codec !== "hevc") || !decoderConfig?.description) return 1;
  const target = new BufferTarget();
  const output = new Output({ format: new MpegTsOutputFormat(), target });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  await source.add(new EncodedPacket(EMPTY_PICTURES[codec], "key", 0, 1), { decoderConfig });
  await output.finalize();
  using input = new Input({ source: new BufferSource(target.buffer!), formats: [MPEG_TS] });
  const { num, den } = await (await input.getPrimaryVideoTrack())!.getPixelAspectRatio();
  return num / den;
}
