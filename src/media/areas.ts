import type { Place } from "../types.ts";

/** In whole pixels. */
export interface Size {
  width: number;
  height: number;
}

/** In whole pixels. */
export interface Area extends Size {
  left: number;
  top: number;
}

/**
 * A place and a margin on each side, of `margin` times its longer side, as far as a picture of this
 * size goes; a pixel at least.
 */
export function withMargin(place: Place, { width, height }: Size, margin: number): Area {
  const around = margin * Math.max(place.width * width, place.height * height);
  const left = Math.max(0, Math.min(width - 1, Math.floor(place.x * width - around)));
  const top = Math.max(0, Math.min(height - 1, Math.floor(place.y * height - around)));
  const right = Math.min(width, Math.ceil((place.x + place.width) * width + around));
  const bottom = Math.min(height, Math.ceil((place.y + place.height) * height + around));
  return { left, top, width: Math.max(1, right - left), height: Math.max(1, bottom - top) };
}
