import type { Area, Size } from "./areas.ts";
import { CHANNELS, rgbaPixels } from "./pixels.ts";

const ALPHA = 3;

/**
 * What stands out in an area of a picture, stretched to a size: a byte a pixel, rows from
 * the top, 255 where it is and 0 where the ground is. Costs and throws as `rgbaPixels` does.
 */
export async function foregroundOf(
  images: ImagesBinding,
  picture: Uint8Array,
  area: Area,
  size: Size,
): Promise<Uint8Array> {
  const more = { trim: { ...area }, segment: "foreground" } as const;
  const rgba = await rgbaPixels(images, new Blob([picture]).stream(), size, more);
  return Uint8Array.from({ length: rgba.length / CHANNELS }, (_, i) =>
    rgba[i * CHANNELS + ALPHA]! < 128 ? 0 : 255,
  );
}
