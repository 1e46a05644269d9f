import { fileTypeFromBuffer } from "file-type";
import { AppError, type ErrorCode } from "../errors.ts";
import { ASSET_TYPES, type AssetType } from "../types.ts";
import { requireDecodable, readImageSize } from "./pixels/image-size.ts";

/** Leading bytes of a file that are enough to sniff its media type. */
export const HEAD_BYTES = 4100;

/** Media types that the IMAGES binding decodes on every plan. AVIF takes an Enterprise plan. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Video containers whose media type isn't under `video/`. */
const ALSO_VIDEO = new Set(["application/vnd.ms-asf", "application/mxf"]);

/** Errors of a file of another type than the one that was required. */
const TYPE_ERRORS = new Set<ErrorCode>(["not_a_video", "not_an_image"]);

/**
 * Returns the media type of a file, by its first `HEAD_BYTES` bytes and never by its name. Throws
 * `not_a_video` or `not_an_image` for another type, and `too_large` for an image of too many
 * pixels.
 */
export async function requireMediaType(head: Uint8Array, assetType: AssetType): Promise<string> {
  const found = await fileTypeFromBuffer(head);
  const mime = found?.mime ?? "unknown";
  const isVideo = mime.startsWith("video/") || ALSO_VIDEO.has(mime);
  if (assetType === "video" && isVideo) return mime;
  if (assetType === "image" && IMAGES.has(mime)) {
    const size = readImageSize(head);
    if (size) requireDecodable(size);
    return mime;
  }
  const problem = found ? `The bytes are ${mime}` : "The bytes are of an unknown format";
  if (assetType === "video") throw new AppError("not_a_video", `${problem}; send a video.`);
  throw new AppError("not_an_image", `${problem}; send a JPEG, PNG, GIF or WebP image.`);
}

/**
 * Determines from the first `HEAD_BYTES` bytes whether a file is a video or an image, and its media
 * type. Throws `unsupported_media_type` for any other file, and `too_large` as `requireMediaType`
 * does.
 */
export async function sniffMediaType(
  head: Uint8Array,
): Promise<{ assetType: AssetType; contentType: string }> {
  for (const assetType of ASSET_TYPES) {
    const contentType = await requireMediaType(head, assetType).catch(nullIfOtherType);
    if (contentType !== null) return { assetType, contentType };
  }
  const message = "The bytes are neither a video nor an image that we know; send one.";
  throw new AppError("unsupported_media_type", message);
}

function nullIfOtherType(error: unknown): null {
  if (error instanceof AppError && TYPE_ERRORS.has(error.code)) return null;
  throw error;
}
