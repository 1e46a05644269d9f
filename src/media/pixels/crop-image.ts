import { CHANNELS, type RgbaImage } from "./jpeg.ts";
import { resizeLuma } from "./luma.ts";
import type { PixelRect, Size } from "./rect.ts";

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
