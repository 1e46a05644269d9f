import { INGEST, LIMITS } from "../../config.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { toImageError, unreadableImage } from "../decoder-errors.ts";
import { decodeImageExternally, type ExternalDecoder, hasDecoder } from "../decoder.ts";
import { readOrientation } from "../exif/image-tags.ts";
import { findRawPreview, ROTATIONS } from "../exif/raw-preview.ts";
import { HEAD_BYTES, requireMediaType, imageFormat } from "../media-type.ts";
import { readImageSize, requireDecodable } from "./image-size.ts";

export interface DecodedImage {
  /** At most `INGEST.keyframeWidth` pixels wide and high. */
  jpeg: Uint8Array;
  /** Width of the original as displayed, or of a raw's preview, in pixels. */
  width: number;
  height: number;
  format: string;
}

export interface ImageEnv extends ExternalDecoder {
  IMAGES: ImagesBinding;
}

/** Bytes of a file in which the size of an image is. */
const HEADER_BYTES = 1024 * 1024;

/**
 * Decodes an image into a JPEG that browsers and models take. The original is streamed, twice for
 * the binding; it is read whole only for an orientation that its EXIF alone says. Throws
 * `source_missing`, `not_an_image`, `unreadable_image`, `too_large`, `unsupported_codec` without a
 * decoder for its format, and `upstream_failed` or `upstream_unavailable` when a retry may help.
 */
export async function decodeImage(env: ImageEnv, file: ImageFile): Promise<DecodedImage> {
  const mime = await requireMediaType(await file.read(0, HEAD_BYTES), "image");
  const { name, decoder, isRaw } = imageFormat(mime)!;
  if (isRaw) return decodePreview(env, file, mime);
  const head = Buffer.from(await file.read(0, HEADER_BYTES));
  const { width = 0, height = 0 } = readImageSize(head) ?? {};
  const isLong = Math.max(width, height) > LIMITS.imageSide;
  const isExternal = decoder === "external" || (isLong && hasDecoder(env));
  if (!isExternal) {
    const orientation = async () => (await readOrientation(file)) ?? 1;
    const properties = head.subarray(0, HEIF_PROPERTY_BYTES);
    const isTurned = properties.includes("irot") || properties.includes("imir");
    const isUnturned = HEIF.has(mime) && !isTurned;
    const rotate = isUnturned ? (ROTATIONS[await orientation()] ?? 0) : 0;
    return decodeByImages(env.IMAGES, () => file.stream(0, file.size), {
      rotate,
      isSideways: async () => (await orientation()) >= FIRST_SIDEWAYS,
    });
  }
  const stream = await file.stream(0, file.size);
  return {
    ...(await decodeImageExternally(env, name, stream, INGEST.keyframeWidth)),
    format: mime,
  };
}

async function decodePreview(
  { IMAGES }: ImageEnv,
  file: ImageFile,
  format: string,
): Promise<DecodedImage> {
  const preview = await findRawPreview(file);
  if (!preview) throw unreadableImage("a raw without a JPEG");
  requireDecodable(preview.size);
  const { offset, length, rotate } = preview;
  const open = () => file.stream(offset, offset + length);
  const isSideways = async () => rotate % 180 !== 0;
  return { ...(await decodeByImages(IMAGES, open, { rotate, isSideways })), format };
}

/** Phones turn these by properties; some by EXIF alone, which decoders of HEIF ignore. */
const HEIF = new Set(["image/heic", "image/heif"]);
/** Bytes of a HEIF in which its properties are. */
const HEIF_PROPERTY_BYTES = 64 * 1024;
/** The first of the EXIF orientations that swap width and height. */
const FIRST_SIDEWAYS = 5;

interface Turn {
  /** Clockwise, on top of what the file says. */
  rotate?: 0 | 90 | 180 | 270;
  /** Whether width and height swap: is asked where the small image is too square to say it. */
  isSideways?: () => Promise<boolean>;
}

/** What a transparent image is laid on, since its text may be white or black. */
const GREY = "#808080";

async function decodeByImages(
  images: ImagesBinding,
  open: () => Promise<ReadableStream<Uint8Array>>,
  { rotate = 0, isSideways }: Turn = {},
): Promise<DecodedImage> {
  const side = INGEST.keyframeWidth;
  try {
    const original = await getImageInfo(images, await open());
    requireDecodable(original);
    const result = await images
      .input(await open())
      .transform({
        width: side,
        height: side,
        fit: "scale-down",
        background: GREY,
        ...(rotate && { rotate }),
      })
      .output({ format: "image/jpeg" });
    const jpeg = new Uint8Array(await result.response().arrayBuffer());
    const decoded = readImageSize(jpeg);
    if (!decoded) throw unreadableImage("a JPEG without a size");
    const change =
      Math.sign(original.width - original.height) * Math.sign(decoded.width - decoded.height);
    const isRotated = change === 0 ? await isSideways?.() : change < 0;
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

/** A file that is read in parts, or streamed from `start` up to `end`. */
interface ImageFile extends RangedFile {
  stream: (start: number, end: number) => Promise<ReadableStream<Uint8Array>>;
}

/** Makes a file of bytes that are in memory. */
export function imageOfBytes(bytes: Uint8Array): ImageFile {
  const part = (start: number, end: number) => bytes.subarray(start, Math.max(start, end));
  return {
    size: bytes.length,
    read: async (start, end) => part(start, end),
    stream: async (start, end) => new Response(part(start, end)).body!,
  };
}
