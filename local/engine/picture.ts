import sharp from "sharp";
import { EngineError } from "./errors.ts";

sharp.cache(false);
sharp.concurrency(1);

/** Larger pictures are refused before a pixel of them is decoded. */
const MAX_PIXELS = 100_000_000;
/** As bare pixels they take 64 MB. */
const MAX_RGBA_PIXELS = 16_000_000;

const FORMATS = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** 8-bit RGB pixels, rows from the top. */
export interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

/** An upright picture: its size as shown (EXIF rotation applied) and its compressed bytes. */
export interface Picture {
  bytes: Buffer;
  width: number;
  height: number;
}

/** Reads the header only. Errors: `undecodable_image`, `too_large`. */
export async function openPicture(bytes: Buffer): Promise<Picture> {
  if (!bytes.length) throw new EngineError("undecodable_image", "The picture is empty.");
  const meta = await sharp(bytes, { limitInputPixels: false, failOn: "error" })
    .metadata()
    .catch(refuse);
  if (!FORMATS.has(meta.format)) {
    throw new EngineError("undecodable_image", `Pictures of type ${meta.format} are not read.`);
  }
  if (meta.width * meta.height > MAX_PIXELS) {
    throw new EngineError("too_large", `The picture has more than ${MAX_PIXELS / 1e6} megapixels.`);
  }
  const { width, height } = meta.autoOrient;
  return { bytes, width, height };
}

/**
 * The upright picture stretched to `width` × `height`, or with "cover" the middle of it that fills
 * them; transparency on white; of an animation, its first frame. Errors: `undecodable_image`.
 */
export async function readPixels(
  picture: Picture,
  width: number,
  height: number,
  fit: "fill" | "cover" = "fill",
): Promise<Pixels> {
  const data = await sharp(picture.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .toColourspace("srgb")
    .flatten({ background: "white" })
    .resize(width, height, { fit })
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true })
    .catch(refuse);
  if (data.info.channels === 3) return { data: data.data, width, height };
  if (data.info.channels !== 1) throw new EngineError("undecodable_image", "Unknown colours.");
  const rgb = Buffer.alloc(width * height * 3);
  for (const [at, value] of data.data.entries()) rgb.fill(value, at * 3, at * 3 + 3);
  return { data: rgb, width, height };
}

/** The upright picture's 8-bit RGBA pixels, rows from the top. Errors: `undecodable_image`, `too_large`. */
export function readRgba({ bytes, width, height }: Picture): Promise<Buffer> {
  if (width * height > MAX_RGBA_PIXELS) {
    throw new EngineError("too_large", `Pixels of at most ${MAX_RGBA_PIXELS} are given.`);
  }
  return sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer()
    .catch(refuse);
}

/** In pixels of the upright picture. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** That part of the upright picture as a PNG. Errors: `bad_request` where it isn't inside, `undecodable_image`. */
export function cropPicture(picture: Picture, area: Area): Promise<Buffer> {
  const isInside =
    area.left + area.width <= picture.width && area.top + area.height <= picture.height;
  if (!isInside) throw new EngineError("bad_request", "The area reaches beyond the picture.");
  return sharp(picture.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .extract(area)
    .png({ compressionLevel: 1 })
    .toBuffer()
    .catch(refuse);
}

/** The upright picture as a JPEG of at most `side` pixels each way. Errors: `undecodable_image`. */
export function toJpeg(picture: Picture, side: number): Promise<Buffer> {
  return sharp(picture.bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize(side, side, { fit: "inside", withoutEnlargement: true })
    .jpeg()
    .toBuffer()
    .catch(refuse);
}

function refuse(cause: unknown): never {
  throw new EngineError("undecodable_image", "The picture can't be decoded.", { cause });
}
