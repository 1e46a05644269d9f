import { fileTypeFromBuffer } from "file-type";
import { AppError } from "../errors.ts";
import type { AssetType } from "../types.ts";

/** How many leading bytes tell what a file is. */
export const HEAD_BYTES = 4100;

/** What the IMAGES binding can decode. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"]);

/** Containers of moving pictures that are not filed under `video/`. */
const ALSO_VIDEO = new Set(["application/vnd.ms-asf", "application/mxf"]);

/**
 * The media type of a file by its first `HEAD_BYTES` bytes, never by its name. Throws `not_a_video` or
 * `not_an_image` where the bytes are of another kind.
 */
export async function requireKind(head: Uint8Array, assetType: AssetType): Promise<string> {
  const found = await fileTypeFromBuffer(head);
  const mime = found?.mime ?? "unknown";
  const isVideo = mime.startsWith("video/") || ALSO_VIDEO.has(mime);
  if (assetType === "video" ? isVideo : IMAGES.has(mime)) return mime;
  const what = found ? `The bytes are ${mime}` : "The bytes are of no media format that we know";
  if (assetType === "video") throw new AppError("not_a_video", `${what}; send a video.`);
  throw new AppError("not_an_image", `${what}; send a JPEG, PNG, GIF, WebP or AVIF image.`);
}
