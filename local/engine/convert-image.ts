import { FilterAPI } from "node-av/api";
import {
  FF_DECODER_BMP,
  FF_DECODER_JPEG2000,
  FF_DECODER_LIBJXL,
  FF_DECODER_PSD,
  type FFDecoderCodec,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, Packet, Rational } from "node-av/lib";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import { type ImageFile, MAX_PIXELS, openImage, toJpeg } from "./image.ts";
import { fitSize } from "./media-fit.ts";

/** Formats that sharp doesn't read: the bytes that they begin with, and FFmpeg's decoder. */
const DECODERS: { magic: Buffer; decoder: FFDecoderCodec }[] = [
  { magic: Buffer.from("BM"), decoder: FF_DECODER_BMP },
  { magic: Buffer.from("8BPS"), decoder: FF_DECODER_PSD },
  { magic: Buffer.from("0000000c6a5020200d0a870a", "hex"), decoder: FF_DECODER_JPEG2000 },
  { magic: Buffer.from("ff4fff51", "hex"), decoder: FF_DECODER_JPEG2000 },
  { magic: Buffer.from("0000000c4a584c200d0a870a", "hex"), decoder: FF_DECODER_LIBJXL },
  { magic: Buffer.from("ff0a", "hex"), decoder: FF_DECODER_LIBJXL },
];

/**
 * Decodes an image into an upright JPEG of at most `side` pixels a side; transparency becomes
 * white. Returns it with the upright size of the original. Errors: `undecodable_image`,
 * `too_large`.
 */
export async function convertImage(bytes: Buffer, side: number): Promise<ImageFile> {
  const known = DECODERS.find(({ magic }) => bytes.subarray(0, magic.length).equals(magic));
  if (known) return convertByFfmpeg(bytes, known.decoder, side);
  const image = await openImage(bytes);
  return { ...image, bytes: await toJpeg(image, side) };
}

/** Passes the bytes to the decoder itself: no container and no other file is opened. */
async function convertByFfmpeg(
  bytes: Buffer,
  decoder: FFDecoderCodec,
  side: number,
): Promise<ImageFile> {
  const frame = await decodeFrame(bytes, decoder);
  try {
    const { width, height } = frame;
    const { scaled } = fitSize({ width, height }, { width: side, height: side, fit: "scale-down" });
    using filter = FilterAPI.create(
      `scale=${scaled.width}:${scaled.height}:flags=area,format=rgba`,
      { threads: 1 },
    );
    frame.timeBase = new Rational(1, 1);
    const [rendered] = filter.processAllSync(frame);
    if (!rendered) throw undecodable();
    try {
      const raw = { width: rendered.width, height: rendered.height, channels: 4 as const };
      const image = sharp(rendered.toBuffer(), { raw }).flatten({ background: "white" });
      return { bytes: await image.jpeg().toBuffer(), width, height };
    } finally {
      rendered.free();
    }
  } finally {
    frame.free();
  }
}

/** Returns the first frame, which the caller has to free. */
async function decodeFrame(bytes: Buffer, name: FFDecoderCodec): Promise<Frame> {
  const codec = Codec.findDecoderByName(name);
  if (!codec) throw undecodable();
  const decoder = new CodecContext();
  const frame = new Frame();
  using packet = new Packet();
  try {
    decoder.allocContext3(codec);
    decoder.threadCount = 1;
    using options = Dictionary.fromObject({ max_pixels: String(MAX_PIXELS) });
    if ((await decoder.open2(codec, options)) < 0) throw undecodable();
    packet.alloc();
    packet.data = bytes;
    frame.alloc();
    await decoder.sendPacket(packet);
    await decoder.sendPacket(null);
    if ((await decoder.receiveFrame(frame)) >= 0) return frame;
    throw undecodable();
  } catch (error) {
    frame.free();
    throw error;
  } finally {
    decoder.freeContext();
  }
}

function undecodable(): EngineError {
  return new EngineError("undecodable_image", "The image can't be decoded.");
}
