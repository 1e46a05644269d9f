import { INGEST } from "../config.ts";
import { AppError } from "../errors.ts";

/**
 * The Images binding's codes for what is wrong with the file: too large, no picture, too many pixels,
 * an unknown format, too much work
 * (https://developers.cloudflare.com/images/reference/troubleshooting/). The rest are its own troubles,
 * one of which may also be the file's.
 */
const FILE_ERRORS = new Set<unknown>([9402, 9412, 9413, 9520, 9522]);
const INTERNAL_ERROR = 9523;

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
 * never held whole. Throws `source_missing` or `unreadable_image`, and `upstream_failed` or
 * `upstream_unavailable` where trying again may help.
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
    const code: unknown = cause instanceof Error && Reflect.get(cause, "code");
    if (FILE_ERRORS.has(code)) throw unreadable(cause);
    const trouble = code === INTERNAL_ERROR ? "upstream_failed" : "upstream_unavailable";
    throw new AppError(trouble, "Images can't be decoded just now.", { cause });
  }
}

async function sizeOf(images: ImagesBinding, stream: ReadableStream<Uint8Array>) {
  const info = await images.info(stream);
  if (!("width" in info)) throw unreadable(`no pixels in ${info.format}`);
  return info;
}

function unreadable(cause: unknown): AppError {
  return new AppError(
    "unreadable_image",
    "The image can't be decoded: it is damaged, cut off or too large. Save it again as JPEG or PNG.",
    { cause },
  );
}
