import type { Area, Size } from "./areas.ts";
import { toPictureError } from "./picture-errors.ts";

const CHANNELS = 4;
const ALPHA = 3;

/**
 * What stands out in an area of a picture, stretched to `width` × `height`: a byte a pixel, rows from
 * the top, 255 where it is and 0 where the ground is. One operation of the binding. Throws
 * `unreadable_image`, and `upstream_failed` or `upstream_unavailable` where trying again may help.
 */
export async function foregroundOf(
  images: ImagesBinding,
  picture: Uint8Array,
  area: Area,
  { width, height }: Size,
): Promise<Uint8Array> {
  try {
    const result = await images
      .input(new Blob([picture]).stream())
      .transform({ trim: { ...area }, width, height, fit: "squeeze", segment: "foreground" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const wanted = width * height * CHANNELS;
    if (rgba.length !== wanted) throw new Error(`${rgba.length} bytes of pixels, not ${wanted}`);
    return Uint8Array.from({ length: width * height }, (_, i) =>
      rgba[i * CHANNELS + ALPHA]! < 128 ? 0 : 255,
    );
  } catch (cause) {
    throw toPictureError(cause);
  }
}
