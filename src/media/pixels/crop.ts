import type { Rect } from "../../types.ts";
import { expandRect } from "./rect.ts";
import { toImageError } from "../decoder-errors.ts";
import { getImageInfo } from "./decode-image.ts";

/**
 * Crops a JPEG to each rectangle, expanded by `margin` times its longer side, and returns JPEGs.
 * Takes one operation of the binding each. Throws `unreadable_image`, and `upstream_failed` or
 * `upstream_unavailable` when a retry may help.
 */
export async function cropRects(
  images: ImagesBinding,
  jpeg: Uint8Array,
  rects: Rect[],
  margin: number,
): Promise<Uint8Array[]> {
  if (rects.length === 0) return [];
  const blob = new Blob([jpeg]);
  try {
    const size = await getImageInfo(images, blob.stream());
    return await Promise.all(
      rects.map(async (rect) => {
        const result = await images
          .input(blob.stream())
          .transform({ trim: { ...expandRect(rect, size, margin) } })
          .output({ format: "image/jpeg" });
        return new Uint8Array(await result.response().arrayBuffer());
      }),
    );
  } catch (cause) {
    throw toImageError(cause);
  }
}
