import { SIGNATURE } from "../../parameters.ts";
import { CHANNELS, decodeJpeg, type RgbaImage } from "./jpeg.ts";
import type { Size } from "./rect.ts";
import { type LumaImage, resizeLuma } from "./resize-luma.ts";

const SIGNATURE_SIZE = { width: SIGNATURE.side, height: SIGNATURE.side };
/** One half in 16-bit fixed point. */
const HALF = 32_768;

/** Decodes the luma of one of our JPEGs. Throws `unreadable_image`. */
export function decodeLuma(jpeg: Uint8Array): Promise<LumaImage> {
  return decodeJpeg(jpeg, toLumaImage);
}

export function toLumaImage({ width, height, data }: RgbaImage): LumaImage {
  return { width, height, luma: toLuma(data) };
}

/** Stretches an image to the size of a signature. */
export function toSignatureSize(image: LumaImage): Uint8Array {
  return resizeLuma(image, SIGNATURE_SIZE);
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
