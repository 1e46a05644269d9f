import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";

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
 * never held whole. Throws `source_missing` or `unreadable_image`.
 */
export async function decodePicture(
  images: ImagesBinding,
  bucket: R2Bucket,
  key: string,
): Promise<Picture> {
  const open = async () => {
    const object = await bucket.get(key);
    if (!object) throw new AppError("source_missing", "The stored file is gone; send it again.");
    return object.body;
  };
  const side = INGEST.keyframeWidth;
  try {
    const stored = await sizeOf(images, await open());
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
    if (cause instanceof AppError) throw cause;
    throw new AppError(
      "unreadable_image",
      "The image can't be decoded: it is damaged, cut off or too large. Save it again as JPEG or PNG.",
      { cause },
    );
  }
}

async function sizeOf(images: ImagesBinding, stream: ReadableStream<Uint8Array>) {
  const info = await images.info(stream);
  if (!("width" in info)) throw new Error(`no pixels in ${info.format}`);
  return info;
}
