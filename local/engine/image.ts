import sharp from "sharp";
import { EngineError } from "./errors.ts";

sharp.cache(false);
sharp.concurrency(1);

/** Larger images are rejected before any pixel is decoded. */
export const MAX_PIXELS = 100_000_000;
/** Limit of raw RGBA output: 64 MB. */
const MAX_RGBA_PIXELS = 16_000_000;

const FORMATS = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** 8-bit RGB pixels in row-major order from the top. */
export interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

/** An encoded image and its display size (EXIF orientation applied). */
export interface ImageFile {
  bytes: Buffer;
  width: number;
  height: number;
}

/** Reads an image's header. Errors: `undecodable_image`, `too_large`. */
export async function openImage(bytes: Buffer): Promise<ImageFile> {
  if (!bytes.length) throw new EngineError("undecodable_image", "The image is empty.");
  const meta = await sharp(bytes, { limitInputPixels: false, failOn: "error" })
    .metadata()
    .catch(throwUndecodable);
  if (!FORMATS.has(meta.format)) {
    throw new EngineError("undecodable_image", `Images of type ${meta.format} are not supported.`);
  }
  if (meta.width * meta.height > MAX_PIXELS) {
    throw new EngineError("too_large", `The image has more than ${MAX_PIXELS / 1e6} megapixels.`);
  }
  const { width, height } = meta.autoOrient;
  return { bytes, width, height };
}

/**
 * Decodes an image upright and resizes it to `width` × `height`; "cover" crops the centre instead
 * of stretching. Transparency becomes white; an animation gives its first frame. Errors:
 * `undecodable_image`.
 */
export async function readPixels(
  image: ImageFile,
  width: number,
  height: number,
  fit: "fill" | "cover" = "fill",
): Promise<Pixels> {
  const data = await sharp(image.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .toColourspace("srgb")
    .flatten({ background: "white" })
    .resize(width, height, { fit })
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true })
    .catch(throwUndecodable);
  if (data.info.channels === 3) return { data: data.data, width, height };
  if (data.info.channels !== 1) throw new EngineError("undecodable_image", "Unknown colours.");
  const rgb = Buffer.alloc(width * height * 3);
  for (const [at, value] of data.data.entries()) rgb.fill(value, at * 3, at * 3 + 3);
  return { data: rgb, width, height };
}

/** Decodes an image upright to 8-bit RGBA pixels. Errors: `undecodable_image`, `too_large`. */
export function readRgba({ bytes, width, height }: ImageFile): Promise<Buffer> {
  if (width * height > MAX_RGBA_PIXELS) {
    throw new EngineError("too_large", `At most ${MAX_RGBA_PIXELS} pixels are returned.`);
  }
  return sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer()
    .catch(throwUndecodable);
}

/** A rectangle in pixels of the upright image. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Crops the upright image and encodes it as PNG. Errors: `bad_request` if the area isn't inside,
 * `undecodable_image`.
 */
export function cropImage(image: ImageFile, area: Area): Promise<Buffer> {
  const isInside = area.left + area.width <= image.width && area.top + area.height <= image.height;
  if (!isInside) throw new EngineError("bad_request", "The area extends beyond the image.");
  return sharp(image.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .extract(area)
    .png({ compressionLevel: 1 })
    .toBuffer()
    .catch(throwUndecodable);
}

/**
 * Encodes the upright image as JPEG of at most `side` pixels a side. Errors: `undecodable_image`.
 */
export function toJpeg(image: ImageFile, side: number): Promise<Buffer> {
  return sharp(image.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize(side, side, { fit: "inside", withoutEnlargement: true })
    .jpeg()
    .toBuffer()
    .catch(throwUndecodable);
}

function throwUndecodable(cause: unknown): never {
  throw new EngineError("undecodable_image", "The image can't be decoded.", { cause });
}
