import { INGEST } from "../config.ts";
import { toPictureError, unreadablePicture } from "./picture-errors.ts";
import { requireDecodable } from "./picture-size.ts";

export interface Picture {
  /** At most `INGEST.keyframeWidth` wide and high. */
  jpeg: Uint8Array;
  /** Of the original as it is shown (EXIF orientation applied), in pixels. */
  width: number;
  height: number;
  format: string;
}

/**
 * A stored image as a JPEG that browsers and models can take, streamed from storage: the original is
 * never held whole. Throws `source_missing`, `unreadable_image` or `too_large`, and `upstream_failed` or
 * `upstream_unavailable` where trying again may help.
 */
export async function decodePicture(
  images: ImagesBinding,
  open: () => Promise<ReadableStream<Uint8Array>>,
): Promise<Picture> {
  const side = INGEST.keyframeWidth;
  try {
    const stored = await sizeOf(images, await open());
    requireDecodable(stored);
    const decoded = await images
      .input(await open())
      .transform({ width: side, height: side, fit: "scale-down" })
      .output({ format: "image/jpeg" });
    const jpeg = new Uint8Array(await decoded.response().arrayBuffer());
    const shown = await sizeOf(images, new Blob([jpeg]).stream());
    const isTurned = stored.width > stored.height !== shown.width > shown.height;
    const [width, height] = isTurned
      ? [stored.height, stored.width]
      : [stored.width, stored.height];
    return { jpeg, width, height, format: stored.format };
  } catch (cause) {
    throw toPictureError(cause);
  }
}

/** Throws `unreadable_image`, and what the binding throws. */
export async function sizeOf(images: ImagesBinding, stream: ReadableStream<Uint8Array>) {
  const info = await images.info(stream);
  if (!("width" in info)) throw unreadablePicture(`no pixels in ${info.format}`);
  return info;
}
