import { fileTypeFromBuffer } from "file-type";
import { AppError, type ErrorCode } from "../errors.ts";
import { ASSET_TYPES, type AssetType } from "../types.ts";
import { requireDecodable, sizeInHeader } from "./picture-size.ts";

/** How many leading bytes tell what a file is. */
export const HEAD_BYTES = 4100;

/** What the IMAGES binding can decode. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"]);

/** Containers of moving pictures that are not filed under `video/`. */
const ALSO_VIDEO = new Set(["application/vnd.ms-asf", "application/mxf"]);

/**
 * The media type of a file by its first `HEAD_BYTES` bytes, never by its name. Throws `not_a_video` or
 * `not_an_image` where the bytes are of another kind, and `too_large` where a picture has too many pixels.
 */
export async function requireKind(head: Uint8Array, assetType: AssetType): Promise<string> {
  const found = await fileTypeFromBuffer(head);
  const mime = found?.mime ?? "unknown";
  const isVideo = mime.startsWith("video/") || ALSO_VIDEO.has(mime);
  if (assetType === "video" && isVideo) return mime;
  if (assetType === "image" && IMAGES.has(mime)) {
    const size = sizeInHeader(head);
    if (size) requireDecodable(size);
    return mime;
  }
  const what = found ? `The bytes are ${mime}` : "The bytes are of no media format that we know";
  if (assetType === "video") throw new AppError("not_a_video", `${what}; send a video.`);
  throw new AppError("not_an_image", `${what}; send a JPEG, PNG, GIF, WebP or AVIF image.`);
}

/** Of which kind a file is, likewise. Throws `unsupported_media_type` where the bytes are of none. */
export async function tellKind(
  head: Uint8Array,
): Promise<{ assetType: AssetType; contentType: string }> {
  for (const assetType of ASSET_TYPES) {
    const contentType = await requireKind(head, assetType).catch(otherKind);
    if (contentType !== null) return { assetType, contentType };
  }
  const message = "The bytes are of no video, and of no image that we know; send one.";
  throw new AppError("unsupported_media_type", message);
}

function otherKind(error: unknown): null {
  if (error instanceof AppError && OTHER_KIND.has(error.code)) return null;
  throw error;
}

const OTHER_KIND = new Set<ErrorCode>(["not_a_video", "not_an_image"]);
