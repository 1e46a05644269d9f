import type { PixelRect, Size } from "./rect.ts";
import { CHANNELS, rgbaPixels } from "./luma.ts";

const ALPHA = 3;

/**
 * Segments the foreground of a rectangle of an image and returns its mask, stretched to a size: one
 * byte a pixel, rows from the top, 255 for foreground and 0 for background. Costs and throws what
 * `rgbaPixels` does.
 */
export async function foregroundMask(
  images: ImagesBinding,
  image: Uint8Array,
  rect: PixelRect,
  size: Size,
): Promise<Uint8Array> {
  const transform = { trim: { ...rect }, segment: "foreground" } as const;
  const rgba = await rgbaPixels(images, new Blob([image]).stream(), size, transform);
  return Uint8Array.from({ length: rgba.length / CHANNELS }, (_, i) =>
    rgba[i * CHANNELS + ALPHA]! < 128 ? 0 : 255,
  );
}
