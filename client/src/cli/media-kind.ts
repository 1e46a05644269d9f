import { fileTypeFromBuffer } from "file-type";

/** Bytes of a file that `mediaKind` needs. */
export const HEAD_BYTES = 4100;

/** Extensions of images, for URLs whose bytes aren't at hand. */
export const IMAGE_EXTENSION =
  /\.(?:jpe?g|png|gif|webp|heic|heif|hif|avif|tiff?|bmp|jp2|j2k|jpx|jxl|psd|dng|cr2|nef|arw|raf)$/i;
/** Video containers whose media type isn't under `video/`. */
const ALSO_VIDEO = new Set([
  "application/vnd.ms-asf",
  "application/mxf",
  "application/vnd.rn-realmedia",
]);
/** Notes instead of sound. */
const NOTES = new Set(["audio/midi", "audio/x-it", "audio/x-s3m", "audio/x-xm"]);

/**
 * Tells a video or an image that the service may take from its first bytes; null for the rest.
 * Sound without pictures is a video, too.
 */
export async function mediaKind(head: Uint8Array): Promise<"video" | "image" | null> {
  const mime = (await fileTypeFromBuffer(head))?.mime;
  if (mime === undefined) return isTiff(head) ? "image" : isDv(head) ? "video" : null;
  if (NOTES.has(mime) || (mime === "image/bmp" && !isBitmap(head))) return null;
  if (/^(?:video|audio)\//.test(mime) || ALSO_VIDEO.has(mime)) return "video";
  return mime.startsWith("image/") ? "image" : null;
}

/** Whether the reserved bytes of a bitmap are zero: they aren't in a text that begins with BM. */
function isBitmap(head: Uint8Array): boolean {
  return head.subarray(6, 10).every((byte) => byte === 0);
}

/** Whether a file begins as a TIFF, whose directory comes later. */
function isTiff(head: Uint8Array): boolean {
  const start = String.fromCharCode(...head.subarray(0, 4));
  return start === "II*\0" || start === "MM\0*";
}

/** Whether a file begins as a frame of raw DV: a header block (IEC 61834-2). */
function isDv([section, block, zero, format = 0]: Uint8Array): boolean {
  return section === 0x1f && block === 0x07 && zero === 0 && (format & 0x7f) === 0x3f;
}
