import { toImageError } from "../decoder-errors.ts";
import { CHANNELS } from "./jpeg.ts";
import type { PixelRect, Size } from "./rect.ts";

const ALPHA = 3;

/**
 * Segments the foreground of a rectangle of an image and returns its mask, stretched to a size: one
 * byte a pixel, rows from the top, 255 for foreground and 0 for background. Takes one operation of
 * the binding. Throws `unreadable_image`, and `upstream_failed` or `upstream_unavailable` when a
 * retry may help.
 */
export async function foregroundMask(
  images: ImagesBinding,
  image: Uint8Array,
  rect: PixelRect,
  { width, height }: Size,
): Promise<Uint8Array> {
  try {
    const result = await images
      .input(new Blob([image]).stream())
      .transform({ trim: { ...rect }, segment: "foreground", width, height, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const expected = width * height * CHANNELS;
    if (rgba.length !== expected)
      throw new Error(`${rgba.length} bytes of pixels, not ${expected}`);
    return Uint8Array.from({ length: width * height }, (_, i) =>
      rgba[i * CHANNELS + ALPHA]! < 128 ? 0 : 255,
    );
  } catch (cause) {
    throw toImageError(cause);
  }
}
