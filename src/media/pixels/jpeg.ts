import { unreadableImage } from "../decoder-errors.ts";
import { readImageSize, requireDecodable } from "./image-size.ts";
import { type LumaImage, resizeLuma, SIGNATURE_SIZE } from "./luma.ts";
import type { Size, PixelRect } from "./rect.ts";

/** Pixels of four bytes (red, green, blue, alpha), rows from the top. */
export interface RgbaImage extends Size {
  data: Uint8ClampedArray;
}

export const CHANNELS = 4;

/** Pixels and scans of a JPEG that is decoded in the isolate: a contact sheet has 4 million. */
const MAX_PIXELS = 4_200_000;
const MAX_SCANS = 32;
const START_OF_IMAGE = Buffer.from([0xff, 0xd8]);
const START_OF_SCAN = Buffer.from([0xff, 0xda]);

/**
 * Checks by its headers that a JPEG can be decoded in the isolate: what needs memory are its
 * pixels, what needs time also its scans. Throws `unreadable_image` or `too_large`.
 */
export function requireSmallJpeg(jpeg: Uint8Array): void {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length);
  const size = bytes.subarray(0, 2).equals(START_OF_IMAGE) ? readImageSize(bytes) : undefined;
  if (!size) throw unreadableImage("not a JPEG, or without a size");
  requireDecodable(size, MAX_PIXELS);
  let scanCount = 0;
  for (let at = -1; (at = bytes.indexOf(START_OF_SCAN, at + 1)) >= 0;) {
    if (++scanCount > MAX_SCANS) throw unreadableImage("too many scans");
  }
}

/** Without `optimize_coding`, MozJPEG writes broken images where `width % 16` is 1 to 8. */
const ENCODING = { progressive: false, optimize_coding: true } as const;
const QUALITY = 85;

/** Keeps the codec from writing to the log. */
const SILENT = { print: () => {}, printErr: () => {} };

type Encode = Awaited<ReturnType<typeof loadEncoder>>;
type JpegDecoder = Awaited<ReturnType<typeof loadDecoder>>;

/** Codecs of this isolate, once a request has loaded them. */
let encoder: Encode | null = null;
let decoder: JpegDecoder | null = null;

/**
 * Decodes a JPEG in this isolate with MozJPEG, and returns what `use` makes of its pixels: those of
 * a contact sheet take 7 MB. All calls share one decoder, whose memory only grows; one that has
 * failed isn't used again. Throws what `requireSmallJpeg` throws.
 */
export async function decodeJpeg<T>(jpeg: Uint8Array, use: (image: RgbaImage) => T): Promise<T> {
  requireSmallJpeg(jpeg);
  decoder ??= await loadDecoder();
  let image: RgbaImage | null;
  try {
    image = decoder.decode(jpeg, false);
  } catch (cause) {
    decoder = null;
    throw unreadableImage(cause);
  }
  if (!image) throw unreadableImage("no pixels");
  return use(image);
}

async function loadDecoder() {
  const [codec, wasm] = await Promise.all([
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.js"),
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
  ]);
  const instantiateWasm = (
    imports: WebAssembly.Imports,
    done: (of: WebAssembly.Instance) => void,
  ) => {
    const instance = new WebAssembly.Instance(wasm.default, imports);
    done(instance);
    return instance.exports;
  };
  const options = { noInitialRun: true, instantiateWasm, ...SILENT };
  return withoutLocation(() => codec.default(options));
}

/** Encodes pixels as a JPEG of a quality of 100. */
export async function encodeJpeg(image: RgbaImage, quality = QUALITY): Promise<Uint8Array> {
  encoder ??= await loadEncoder();
  return new Uint8Array(await encoder(image, { ...ENCODING, quality }));
}

async function loadEncoder() {
  const [codec, wasm] = await Promise.all([
    import("@jsquash/jpeg/encode.js"),
    import("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"),
  ]);
  await withoutLocation(() => codec.init(wasm.default, SILENT));
  return codec.default;
}

/**
 * Initialises a codec, which sets a global `location` without a URL where there is none, as in
 * workerd. Others take that for the URL of a page, so it is removed.
 */
function withoutLocation<T>(init: () => Promise<T>): Promise<T> {
  const had = "location" in globalThis;
  const initialised = init();
  if (!had) Reflect.deleteProperty(globalThis, "location");
  return initialised;
}

const HALF = 32_768;

/** Decodes the luma of one of our JPEGs. Throws `unreadable_image`. */
export function decodeLuma(jpeg: Uint8Array): Promise<LumaImage> {
  return decodeJpeg(jpeg, ({ width, height, data }) => ({ width, height, luma: toLuma(data) }));
}

/**
 * Decodes the luma of one of our JPEGs and stretches it to a size, by default that of a signature.
 * Throws `unreadable_image`.
 */
export async function lumaPixels(jpeg: Uint8Array, size: Size = SIGNATURE_SIZE) {
  return resizeLuma(await decodeLuma(jpeg), size);
}

/** Computes luma in 16-bit fixed point, which is several times faster than floating point. */
function toLuma(rgba: Uint8ClampedArray): Uint8Array {
  const result = new Uint8Array(rgba.length / CHANNELS);
  for (let i = 0, at = 0; i < result.length; i++, at += CHANNELS) {
    result[i] = (19_595 * rgba[at]! + 38_470 * rgba[at + 1]! + 7_471 * rgba[at + 2]! + HALF) >> 16;
  }
  return result;
}

const OPAQUE = 255;

/** Copies a rectangle, which must lie within the image. */
export function cropImage(image: RgbaImage, { left, top, width, height }: PixelRect): RgbaImage {
  const data = new Uint8ClampedArray(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    const start = ((top + y) * image.width + left) * CHANNELS;
    data.set(image.data.subarray(start, start + width * CHANNELS), y * width * CHANNELS);
  }
  return { data, width, height };
}

/** Stretches an image to another size, as `resizeLuma` does each of its colours. */
export function resizeImage({ data, width, height }: RgbaImage, to: Size): RgbaImage {
  const resized = new Uint8ClampedArray(to.width * to.height * CHANNELS).fill(OPAQUE);
  for (let channel = 0; channel < CHANNELS - 1; channel++) {
    const plane = new Uint8Array(width * height);
    for (let i = 0; i < plane.length; i++) plane[i] = data[i * CHANNELS + channel]!;
    const values = resizeLuma({ luma: plane, width, height }, to);
    for (const [i, value] of values.entries()) resized[i * CHANNELS + channel] = value;
  }
  return { data: resized, width: to.width, height: to.height };
}

/** Copies an image onto a larger one, with its top left corner at `left` and `top`. */
export function drawImage(
  onto: RgbaImage,
  image: RgbaImage,
  { left, top }: Pick<PixelRect, "left" | "top">,
): void {
  const rowBytes = image.width * CHANNELS;
  for (let y = 0; y < image.height; y++) {
    const row = image.data.subarray(y * rowBytes, (y + 1) * rowBytes);
    onto.data.set(row, ((top + y) * onto.width + left) * CHANNELS);
  }
}
