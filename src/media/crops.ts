import type { Place } from "../types.ts";
import { withMargin } from "./areas.ts";
import { toPictureError } from "./picture-errors.ts";
import { sizeOf } from "./pictures.ts";

/**
 * Places of a JPEG, each with a margin of so many times its longer side, as JPEGs. One operation of the
 * binding each. Throws `unreadable_image`, and `upstream_failed` or `upstream_unavailable` where trying
 * again may help.
 */
export async function cropPlaces(
  images: ImagesBinding,
  jpeg: Uint8Array,
  places: Place[],
  margin: number,
): Promise<Uint8Array[]> {
  if (places.length === 0) return [];
  const picture = new Blob([jpeg]);
  try {
    const size = await sizeOf(images, picture.stream());
    return await Promise.all(
      places.map(async (place) => {
        const result = await images
          .input(picture.stream())
          .transform({ trim: { ...withMargin(place, size, margin) } })
          .output({ format: "image/jpeg" });
        return new Uint8Array(await result.response().arrayBuffer());
      }),
    );
  } catch (cause) {
    throw toPictureError(cause);
  }
}
