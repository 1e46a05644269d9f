import { SIGNATURE } from "../config.ts";
import type { Size } from "./areas.ts";
import { toPictureError } from "./picture-errors.ts";

/** Bytes of a pixel: red, green, blue, opacity. */
export const CHANNELS = 4;

const SQUARE = { width: SIGNATURE.side, height: SIGNATURE.side };

/**
 * The grey pixels (Rec. 601 luma) of a picture that is stretched to a size, rows from the top,
 * transparency on white; by default that of which signatures are made. Costs and throws as
 * `rgbaPixels` does.
 */
export async function greyPixels(
  images: ImagesBinding,
  picture: ReadableStream<Uint8Array>,
  size: Size = SQUARE,
): Promise<Uint8Array> {
  return toGrey(await rgbaPixels(images, picture, size));
}

/**
 * The pixels of a picture, `CHANNELS` bytes each, rows from the top, stretched to a size after what
 * else is asked for. One operation of the binding. Throws `unreadable_image`, and `upstream_failed` or
 * `upstream_unavailable` where trying again may help.
 */
export async function rgbaPixels(
  images: ImagesBinding,
  picture: ReadableStream<Uint8Array>,
  { width, height }: Size,
  more: Pick<ImageTransform, "trim" | "segment"> = {},
): Promise<Uint8Array> {
  try {
    const result = await images
      .input(picture)
      .transform({ ...more, width, height, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const wanted = width * height * CHANNELS;
    if (rgba.length !== wanted) throw new Error(`${rgba.length} bytes of pixels, not ${wanted}`);
    return rgba;
  } catch (cause) {
    throw toPictureError(cause);
  }
}

const HALF = 32_768;

/** In whole numbers, which is several times faster: the weights in parts of 65,536. */
function toGrey(rgba: Uint8Array): Uint8Array {
  const grey = new Uint8Array(rgba.length / CHANNELS);
  for (let i = 0, at = 0; i < grey.length; i++, at += CHANNELS) {
    const luma = (19_595 * rgba[at]! + 38_470 * rgba[at + 1]! + 7_471 * rgba[at + 2]! + HALF) >> 16;
    const opacity = rgba[at + 3]!;
    grey[i] = opacity === 255 ? luma : (luma * opacity) / 255 + 255 - opacity + 0.5;
  }
  return grey;
}
