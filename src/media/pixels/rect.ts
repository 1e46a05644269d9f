import type { Rect } from "../../types.ts";

export interface Size {
  width: number;
  height: number;
}

/** A rectangle in whole pixels. */
export interface PixelRect extends Size {
  left: number;
  top: number;
}

/**
 * Expands a rectangle by `margin` times its longer side on each side, within an image of this size.
 * The result has at least one pixel.
 */
export function expandRect(rect: Rect, { width, height }: Size, margin: number): PixelRect {
  const marginPixels = margin * Math.max(rect.width * width, rect.height * height);
  const left = Math.max(0, Math.min(width - 1, Math.floor(rect.x * width - marginPixels)));
  const top = Math.max(0, Math.min(height - 1, Math.floor(rect.y * height - marginPixels)));
  const right = Math.min(width, Math.ceil((rect.x + rect.width) * width + marginPixels));
  const bottom = Math.min(height, Math.ceil((rect.y + rect.height) * height + marginPixels));
  return { left, top, width: Math.max(1, right - left), height: Math.max(1, bottom - top) };
}
