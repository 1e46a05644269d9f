import type { Rect } from "../../types.ts";
import { CHANNELS, decodeJpeg, encodeJpeg, type RgbaImage } from "./jpeg.ts";
import { expandRect, type PixelRect } from "./rect.ts";

/**
 * Crops one of our JPEGs to each rectangle, expanded by `margin` times its longer side, and returns
 * JPEGs. Throws `unreadable_image`.
 */
export async function cropRects(
  jpeg: Uint8Array,
  rects: Rect[],
  margin: number,
): Promise<Uint8Array[]> {
  if (rects.length === 0) return [];
  const crops = await decodeJpeg(jpeg, (image) =>
    rects.map((rect) => crop(image, expandRect(rect, image, margin))),
  );
  return Promise.all(crops.map(encodeJpeg));
}

function crop(image: RgbaImage, { left, top, width, height }: PixelRect): RgbaImage {
  const data = new Uint8ClampedArray(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    const start = ((top + y) * image.width + left) * CHANNELS;
    data.set(image.data.subarray(start, start + width * CHANNELS), y * width * CHANNELS);
  }
  return { data, width, height };
}
