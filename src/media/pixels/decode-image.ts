import { INGEST } from "../../config.ts";
import { toImageError, unreadableImage } from "../decoder-errors.ts";
import { readImageSize, requireDecodable } from "./image-size.ts";

export interface DecodedImage {
  /** At most `INGEST.keyframeWidth` pixels wide and high. */
  jpeg: Uint8Array;
  /** Width of the original as displayed (EXIF orientation applied), in pixels. */
  width: number;
  height: number;
  format: string;
}

/**
 * Decodes a stored image into a JPEG that browsers and models take. The original is streamed from
 * storage and never whole in memory; `open` is called twice. Throws `source_missing`,
 * `unreadable_image` or `too_large`, and `upstream_failed` or `upstream_unavailable` when a retry
 * may help.
 */
export async function decodeImage(
  images: ImagesBinding,
  open: () => Promise<ReadableStream<Uint8Array>>,
): Promise<DecodedImage> {
  const side = INGEST.keyframeWidth;
  try {
    const original = await getImageInfo(images, await open());
    requireDecodable(original);
    const result = await images
      .input(await open())
      .transform({ width: side, height: side, fit: "scale-down" })
      .output({ format: "image/jpeg" });
    const jpeg = new Uint8Array(await result.response().arrayBuffer());
    const decoded = readImageSize(jpeg);
    if (!decoded) throw unreadableImage("a JPEG without a size");
    const isRotated = original.width > original.height !== decoded.width > decoded.height;
    const [width, height] = isRotated
      ? [original.height, original.width]
      : [original.width, original.height];
    return { jpeg, width, height, format: original.format };
  } catch (cause) {
    throw toImageError(cause);
  }
}

/**
 * Returns the format and size of an image. Throws `unreadable_image`, and errors of the binding.
 */
export async function getImageInfo(images: ImagesBinding, stream: ReadableStream<Uint8Array>) {
  const info = await images.info(stream);
  if (!("width" in info)) throw unreadableImage(`no pixels in ${info.format}`);
  return info;
}
