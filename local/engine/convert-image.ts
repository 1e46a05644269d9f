import { readFile } from "node:fs/promises";
import { crc32, deflateSync } from "node:zlib";
import { FilterAPI } from "node-av/api";
import {
  AVALPHA_MODE_PREMULTIPLIED,
  AV_FRAME_DATA_ICC_PROFILE,
  AV_PIX_FMT_RGB48LE,
  AVCOL_PRI_BT2020,
  AVCOL_PRI_BT709,
  AVCOL_PRI_UNSPECIFIED,
  AVCOL_RANGE_JPEG,
  AVCOL_SPC_RGB,
  AVCOL_SPC_SMPTE170M,
  AVCOL_SPC_UNSPECIFIED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  FF_DECODER_BMP,
  FF_DECODER_JPEG2000,
  FF_DECODER_LIBJXL,
  FF_DECODER_PSD,
  type FFDecoderCodec,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, Packet, Rational } from "node-av/lib";
import sharp, { type Sharp } from "sharp";
import { EngineError } from "./errors.ts";
import {
  bitmapExtent,
  type ImageExtent,
  jpeg2000Extent,
  jpeg2000Profile,
  MAX_WHOLE_PIXELS,
  photoshopExtent,
  requireBounded,
} from "./image-bounds.ts";
import { type ImageFile, openImage, readDeepRgb, toJpeg, unsupportedImage } from "./image.ts";
import { isHighDynamicRange, toToneFilters } from "./media-colour.ts";
import { fitSize } from "./media-fit.ts";
import { MediaReader } from "./media-reader.ts";
import { openMedia, withBorder } from "./media-source.ts";

interface ImageDecoder {
  /** Bytes that files of the format begin with. */
  magic: Buffer;
  decoder: FFDecoderCodec;
  /** Reads the header. Null for JPEG XL, whose decoder reads it before it takes memory. */
  readExtent: ((bytes: Buffer) => ImageExtent | null) | null;
}

const JPEG2000 = { decoder: FF_DECODER_JPEG2000, readExtent: jpeg2000Extent };
const JPEG_XL = { decoder: FF_DECODER_LIBJXL, readExtent: null };

/** Formats that sharp doesn't read, and FFmpeg's decoders of them. */
const DECODERS: ImageDecoder[] = [
  { magic: Buffer.from("BM"), decoder: FF_DECODER_BMP, readExtent: bitmapExtent },
  { magic: Buffer.from("8BPS"), decoder: FF_DECODER_PSD, readExtent: photoshopExtent },
  { magic: Buffer.from("0000000c6a5020200d0a870a", "hex"), ...JPEG2000 },
  { magic: Buffer.from("ff4fff51", "hex"), ...JPEG2000 },
  { magic: Buffer.from("0000000c4a584c200d0a870a", "hex"), ...JPEG_XL },
  { magic: Buffer.from("ff0a", "hex"), ...JPEG_XL },
];

/** Bytes in which the properties of an AVIF are. */
const MAX_HEAD_BYTES = 65_536;
const HIGH_TRANSFERS = [AVCOL_TRC_SMPTE2084, AVCOL_TRC_ARIB_STD_B67];
/** A screen's white in PQ and HLG, of 255 (ITU-R BT.2408, 2.2: 58 and 75 %). */
const WHITES: Readonly<Record<number, number>> = {
  [AVCOL_TRC_SMPTE2084]: 148,
  [AVCOL_TRC_ARIB_STD_B67]: 191,
};

/** Brands of files whose image is the first frame of a sequence: AVIF and HEIC. */
const SEQUENCE_BRANDS = new Set(["avis", "msf1", "hevc", "hevx", "hevm", "hevs"]);

/**
 * Decodes an image into an upright JPEG of at most `side` pixels a side; transparency becomes
 * white. Returns it with the upright size of the original. Errors: `undecodable_image`,
 * `too_large`.
 */
export async function convertImage(path: string, side: number): Promise<ImageFile> {
  const bytes = await readFile(path);
  const brand = bytes.toString("latin1", 4, 8) === "ftyp" && bytes.toString("latin1", 8, 12);
  if (brand && SEQUENCE_BRANDS.has(brand)) return convertSequence(path, side);
  const known = DECODERS.find(({ magic }) => bytes.subarray(0, magic.length).equals(magic));
  if (known) {
    if (known.decoder === FF_DECODER_PSD) requireReadPhotoshop(bytes);
    const extent = known.readExtent?.(bytes);
    if (extent === null) throw undecodable();
    if (extent) requireBounded(extent);
    const frame = await decodeFrame(bytes, known.decoder).catch((error: unknown) => {
      const kind = known.decoder === FF_DECODER_BMP && UNREAD_BITMAPS[bytes.readUInt32LE(30)];
      throw kind ? unsupportedImage(kind) : error;
    });
    const profile = frame.getSideData(AV_FRAME_DATA_ICC_PROFILE) ?? jpeg2000Profile(bytes);
    return convertFrame(frame, side, profile);
  }
  stateMatrix(bytes);
  const image = await openImage(bytes);
  const transfer = readHighTransfer(bytes);
  if (transfer !== null) {
    const { data, width, height } = await readDeepRgb(image, side, WHITES[transfer]!);
    const frame = Frame.fromVideoBuffer(data, {
      width,
      height,
      format: AV_PIX_FMT_RGB48LE,
      timeBase: { num: 1, den: 1 },
    });
    frame.colorTrc = transfer;
    frame.colorPrimaries = AVCOL_PRI_BT2020;
    frame.colorSpace = AVCOL_SPC_RGB;
    frame.colorRange = AVCOL_RANGE_JPEG;
    const { bytes: jpeg } = await convertFrame(frame, side, null);
    return { ...image, bytes: jpeg };
  }
  return { ...image, bytes: await toJpeg(image, side) };
}

/** Shows the first frame of the longest track, and of such the first: its opacity comes behind. */
async function convertSequence(path: string, side: number): Promise<ImageFile> {
  const source = await openMedia(path).catch((cause: unknown) => {
    throw new EngineError("undecodable_image", "The image can't be decoded.", { cause });
  });
  try {
    const pictures = source.context.streams.filter(({ codecpar }) => codecpar.width > 0);
    const [track] = pictures.toSorted((a, b) => Number(b.nbFrames - a.nbFrames));
    if (!source.video || !track) throw undecodable();
    const reader = await MediaReader.open(source, track);
    try {
      const first = await reader.next();
      if (!first) throw undecodable();
      return await convertFrame(first.frame, side, null);
    } finally {
      reader.close();
    }
  } finally {
    await source.close();
  }
}

/** Where the light of an AVIF is described: the type of its `colr`, in its first bytes. */
function findLight(bytes: Buffer): number | null {
  const head = bytes.subarray(0, MAX_HEAD_BYTES);
  const at = head.indexOf("colrnclx");
  const isAvif = head.toString("latin1", 4, 8) === "ftyp" && at > 0 && at + 14 <= head.length;
  return isAvif ? at : null;
}

/** Reads whether an AVIF says that it is PQ or HLG; else null. */
function readHighTransfer(bytes: Buffer) {
  const light = findLight(bytes);
  const transfer = light === null ? 0 : bytes.readUInt16BE(light + 10);
  return HIGH_TRANSFERS.find((high) => high === transfer) ?? null;
}

/**
 * Writes the matrix that players assume, BT.601, into an AVIF that leaves it open: libheif would
 * take a full range for a limited one.
 */
function stateMatrix(bytes: Buffer): void {
  const light = findLight(bytes);
  if (light === null || bytes.readUInt16BE(light + 12) !== AVCOL_SPC_UNSPECIFIED) return;
  bytes.writeUInt16BE(AVCOL_SPC_SMPTE170M, light + 12);
}

/** Divides the colours of RGBA pixels by their opacity. */
function straighten(pixels: Buffer): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const opacity = pixels[at + 3]! / 255;
    if (opacity === 0) continue;
    for (let colour = at; colour < at + 3; colour++) {
      pixels[colour] = Math.min(255, Math.round(pixels[colour]! / opacity));
    }
  }
}

/** Shows a frame, which is freed, by its profile or its tags as a JPEG of sRGB. */
async function convertFrame(
  frame: Frame,
  side: number,
  profile: Buffer | null,
): Promise<ImageFile> {
  try {
    const { width, height } = frame;
    const isPremultiplied = frame.alphaMode === AVALPHA_MODE_PREMULTIPLIED;
    const { scaled } = fitSize({ width, height }, { width: side, height: side, fit: "scale-down" });
    using filter = FilterAPI.create(
      [
        `scale=${scaled.width}:${scaled.height}:flags=area`,
        ...toScreenFilters(frame),
        "format=rgba",
      ].join(","),
      { threads: 1 },
    );
    frame.timeBase = new Rational(1, 1);
    const [rendered] = filter.processAllSync(frame);
    if (!rendered) throw undecodable();
    try {
      const raw = { width: rendered.width, height: rendered.height, channels: 4 as const };
      const rgba = rendered.toBuffer();
      if (isPremultiplied) straighten(rgba);
      const pixels = sharp(rgba, { raw });
      const isRgb = profile?.toString("latin1", 16, 20) === "RGB ";
      const image = isRgb ? sharp(await toPngOf(pixels, profile)) : pixels;
      const jpeg = image.flatten({ background: "white" }).toColourspace("srgb").jpeg();
      return { bytes: await jpeg.toBuffer(), width, height };
    } finally {
      rendered.free();
    }
  } finally {
    frame.free();
  }
}

/** Returns FFmpeg filters that map the tagged light of an image to a screen's. */
function toScreenFilters(frame: Frame): string[] {
  if (isHighDynamicRange(frame)) return toToneFilters(frame);
  const isWide = ![AVCOL_PRI_BT709, AVCOL_PRI_UNSPECIFIED].includes(frame.colorPrimaries);
  return isWide ? ["zscale=primaries=bt709:transfer=iec61966-2-1"] : [];
}

/** Encodes pixels as PNG with an ICC profile, which is put before the first chunk of pixels. */
async function toPngOf(pixels: Sharp, profile: Buffer): Promise<Buffer> {
  const png = await pixels.png({ compressionLevel: 1 }).toBuffer();
  const chunk = Buffer.concat([Buffer.from("iCCPicc\0\0"), deflateSync(profile)]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(chunk.length - 4);
  checksum.writeUInt32BE(crc32(chunk));
  const header = 33;
  return Buffer.concat([png.subarray(0, header), length, chunk, checksum, png.subarray(header)]);
}

/** Kinds of bitmap that FFmpeg may not decode, by their compression. */
const UNREAD_BITMAPS: Readonly<Record<number, string>> = {
  3: "Bitmaps of these bit fields",
  4: "Bitmaps that contain a JPEG",
  5: "Bitmaps that contain a PNG",
  6: "Bitmaps of these bit fields",
};
/** Modes of Photoshop that FFmpeg doesn't decode. */
const UNREAD_MODES: Readonly<Record<number, string>> = { 7: "of many channels", 9: "in Lab" };
const MODE_GREY = 1;

/** Errors: `unsupported_image` for the Photoshop files that FFmpeg doesn't decode. */
function requireReadPhotoshop(bytes: Buffer): void {
  if (bytes.length < 26) return;
  if (bytes.readUInt16BE(4) === 2) throw unsupportedImage("Large Photoshop documents (PSB)");
  const [depth, mode] = [bytes.readUInt16BE(22), bytes.readUInt16BE(24)];
  const kind = UNREAD_MODES[mode] ?? (depth === 32 && mode !== MODE_GREY && "of 32 bits");
  if (kind) throw unsupportedImage(`Photoshop files ${kind}`);
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
    const bounds = { max_pixels: withBorder(MAX_WHOLE_PIXELS), codec_whitelist: name };
    using options = Dictionary.fromObject(bounds);
    if ((await decoder.open2(codec, options)) < 0) throw undecodable();
    packet.alloc();
    packet.data = bytes;
    frame.alloc();
    await decoder.sendPacket(packet);
    await decoder.sendPacket(null);
    const isDecoded = (await decoder.receiveFrame(frame)) >= 0;
    if (isDecoded && frame.decodeErrorFlags === 0) return frame;
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
