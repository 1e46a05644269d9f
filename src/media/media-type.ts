import { fileTypeFromBuffer } from "file-type";
import { AppError, type ErrorCode } from "../errors.ts";
import { ASSET_TYPES, type AssetType } from "../types.ts";
import { describeFile } from "./file-kind.ts";
import { imageFormat } from "./image-format.ts";
import { isTiff, readImageSize, requireDecodable } from "./pixels/image-size.ts";

/** Leading bytes of a file that are enough to sniff its media type. */
export const HEAD_BYTES = 4100;

/** Video containers whose media type isn't under `video/`. */
const ALSO_VIDEO = new Set([
  "application/vnd.ms-asf",
  "application/mxf",
  "application/vnd.rn-realmedia",
]);

/** Media types of sound that is read as it is: MP3, M4A, WAV, FLAC, Ogg and ADTS. */
const READ_SOUND =
  "audio/mpeg audio/mp4 audio/x-m4a audio/wav audio/flac audio/ogg audio/aac".split(" ");
/** Those of sound that the decoder converts. */
const CONVERTED_SOUND = [
  "audio/amr",
  "audio/aiff",
  "audio/ape",
  "audio/vnd.dolby.dd-raw", // AC-3
  "audio/wavpack",
  "audio/x-caf",
  "audio/x-dsf",
  "audio/x-ms-asf", // WMA
  "audio/x-musepack",
  "audio/x-voc",
];
const SOUND = new Set([...READ_SOUND, ...CONVERTED_SOUND]);

/** Whether assets of a type have files of a media type. Sound without pictures is a video, too. */
export function isTypeOf(mime: string, assetType: AssetType): boolean {
  return assetType === "video"
    ? mime.startsWith("video/") || ALSO_VIDEO.has(mime) || SOUND.has(mime)
    : imageFormat(mime) !== undefined;
}

/** Errors of a file of another type than the one that was required. */
const TYPE_ERRORS = new Set<ErrorCode>(["not_a_video", "not_an_image"]);

/**
 * Returns the media type of a file, by its first `HEAD_BYTES` bytes and never by its name. Throws
 * `not_a_video` or `not_an_image` for another type, and `too_large` for an image of too many
 * pixels.
 */
export async function requireMediaType(head: Uint8Array, assetType: AssetType): Promise<string> {
  const mime = await sniff(head);
  if (mime !== undefined && isTypeOf(mime, assetType)) {
    const size = assetType === "image" ? readImageSize(head) : undefined;
    if (size) requireDecodable(size);
    return mime;
  }
  const code = assetType === "video" ? "not_a_video" : "not_an_image";
  throw new AppError(code, describeFile(head, mime));
}

/** Returns the media type of a file by its signature; undefined for an unknown one. */
async function sniff(head: Uint8Array): Promise<string | undefined> {
  const [mime] = (await fileTypeFromBuffer(head))?.mime.split(";") ?? []; // without its codecs
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  if (mime === undefined && isTiff(bytes)) return "image/tiff"; // its directory comes later
  if (mime === undefined && isDv(head)) return "video/dv";
  const isHeif = mime === "image/heif" || mime === "image/heif-sequence";
  return isHeif && isCompatible(bytes, "avif") ? "image/avif" : mime;
}

/** Whether a file begins as a frame of raw DV: a header block (IEC 61834-2). */
function isDv([section, block, zero, format = 0]: Uint8Array): boolean {
  return section === 0x1f && block === 0x07 && zero === 0 && (format & 0x7f) === 0x3f;
}

/** Whether a file of ISO base media names a brand, in its first box. */
function isCompatible(bytes: Buffer, brand: string): boolean {
  const end = Math.min(bytes.length, bytes.readUInt32BE(0));
  return bytes.subarray(0, end).includes(brand, 16, "latin1");
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
  throw new AppError("unsupported_media_type", describeFile(head, await sniff(head)));
}

function nullIfOtherType(error: unknown): null {
  if (error instanceof AppError && TYPE_ERRORS.has(error.code)) return null;
  throw error;
}
