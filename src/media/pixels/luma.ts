import { SIGNATURE } from "../../parameters.ts";
import type { Size } from "./rect.ts";
import { toImageError } from "../decoder-errors.ts";

/** Bytes of a pixel: red, green, blue, alpha. */
export const CHANNELS = 4;

const SIGNATURE_SIZE = { width: SIGNATURE.side, height: SIGNATURE.side };
/** One half in 16-bit fixed point. */
const HALF = 32_768;

/**
 * Decodes the luma (Rec. 601) of an image that is stretched to a size, by default that of a
 * signature: one byte a pixel, rows from the top, transparency on white. Costs and throws what
 * `rgbaPixels` does.
 */
export async function lumaPixels(
  images: ImagesBinding,
  image: ReadableStream<Uint8Array>,
  size: Size = SIGNATURE_SIZE,
): Promise<Uint8Array> {
  return toLuma(await rgbaPixels(images, image, size));
}

/**
 * Decodes the pixels of an image, `CHANNELS` bytes each, rows from the top, stretched to a size
 * after `transform`. Takes one operation of the binding. Throws `unreadable_image`, and
 * `upstream_failed` or `upstream_unavailable` when a retry may help.
 */
export async function rgbaPixels(
  images: ImagesBinding,
  image: ReadableStream<Uint8Array>,
  { width, height }: Size,
  transform: Pick<ImageTransform, "trim" | "segment"> = {},
): Promise<Uint8Array> {
  try {
    const result = await images
      .input(image)
      .transform({ ...transform, width, height, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const expected = width * height * CHANNELS;
    if (rgba.length !== expected)
      throw new Error(`${rgba.length} bytes of pixels, not ${expected}`);
    return rgba;
  } catch (cause) {
    throw toImageError(cause);
  }
}

/** Computes luma in 16-bit fixed point, which is several times faster than floating point. */
function toLuma(rgba: Uint8Array): Uint8Array {
  const result = new Uint8Array(rgba.length / CHANNELS);
  for (let i = 0, at = 0; i < result.length; i++, at += CHANNELS) {
    const luma = (19_595 * rgba[at]! + 38_470 * rgba[at + 1]! + 7_471 * rgba[at + 2]! + HALF) >> 16;
    const alpha = rgba[at + 3]!;
    result[i] = alpha === 255 ? luma : (luma * alpha) / 255 + 255 - alpha + 0.5;
  }
  return result;
}
