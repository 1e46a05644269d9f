import decodePixels, { init as initDecoder } from "@jsquash/jpeg/decode.js";
import encodePixels, { init as initEncoder } from "@jsquash/jpeg/encode.js";
import decoderModule from "@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm";
import encoderModule from "@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm";
import { unreadableImage } from "../decoder-errors.ts";
import type { Size } from "./rect.ts";

/** Pixels of four bytes (red, green, blue, alpha), rows from the top. */
export interface RgbaImage extends Size {
  data: Uint8ClampedArray;
}

/** Bytes of a pixel. */
export const CHANNELS = 4;

/** Quality of 100, and no step that takes much time for a few bytes. */
const ENCODING = { quality: 85, progressive: false, optimize_coding: false } as const;

/** Keeps the codec from writing to the log. */
const SILENT = { print: () => {}, printErr: () => {} };

/** Codecs, each initialised at its first use, and again after a damaged file. */
let decoder: Promise<void> | null = null;
let encoder: Promise<void> | null = null;

/**
 * Decodes a JPEG in this isolate with MozJPEG. It is for files that this service has made: the
 * pixels of others may not fit into memory. Throws `unreadable_image`.
 */
export async function decodeJpeg(jpeg: Uint8Array): Promise<RgbaImage> {
  decoder ??= initDecoder(decoderModule, SILENT);
  await decoder;
  try {
    return await decodePixels(jpeg);
  } catch (cause) {
    decoder = null;
    throw unreadableImage(cause);
  }
}

/** Encodes pixels as a JPEG. */
export async function encodeJpeg(image: RgbaImage): Promise<Uint8Array> {
  encoder ??= initEncoder(encoderModule, SILENT);
  await encoder;
  return new Uint8Array(await encodePixels(image, ENCODING));
}
