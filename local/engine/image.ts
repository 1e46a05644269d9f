import sharp from "sharp";
import { EngineError } from "./errors.ts";
import { takeAperture, toCrop } from "./heif-aperture.ts";
import { MAX_PIXELS, requireBounded } from "./image-bounds.ts";

sharp.cache(false);
sharp.concurrency(1);
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif"];

/** Refuses all other loaders in this process. A process that opens files of strangers calls it. */
export function blockOtherLoaders(): void {
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS.map((name) => `VipsForeignLoad${name}`) });
}

/** Limit of raw RGBA output: 64 MB. */
const MAX_RGBA_PIXELS = 16_000_000;

/** Bytes of a sample by libvips' name of its type. */
const SAMPLE_BYTES: Readonly<Record<string, number>> = { uchar: 1, char: 1, ushort: 2, short: 2 };
const MAX_SAMPLE_BYTES = 16;

/** Depths of a TIFF that are no colours of a screen. */
const INTEGER_DEPTHS: ReadonlySet<string> = new Set(["uint", "int"]);

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
  /** Page of a TIFF that is the image; default the first. */
  page?: number;
  /** What is shown of an AVIF; default all. */
  crop?: Area | null;
  width: number;
  height: number;
}

/** Reads an image's header. Errors: `undecodable_image`, `too_large`. */
export async function openImage(bytes: Buffer): Promise<ImageFile> {
  if (!bytes.length) throw new EngineError("undecodable_image", "The image is empty.");
  const tiff = readTiffPage(bytes);
  const page = tiff?.page ?? 0;
  const unread = UNREAD_COMPRESSIONS[tiff?.compression ?? 0];
  if (unread) throw unsupportedImage(`TIFFs compressed with ${unread}`);
  const aperture = takeAperture(bytes);
  const meta = await sharp(bytes, { limitInputPixels: false, failOn: "error", page })
    .metadata()
    .catch(throwUndecodable);
  if (!FORMATS.has(meta.format)) {
    throw new EngineError("undecodable_image", `Images of type ${meta.format} are not supported.`);
  }
  if (meta.format === "tiff" && INTEGER_DEPTHS.has(meta.depth)) {
    throw unsupportedImage("TIFFs with integers of 32 bits");
  }
  requireBounded({
    width: meta.width,
    height: meta.height,
    components: meta.channels,
    bytesPerComponent: SAMPLE_BYTES[meta.depth] ?? MAX_SAMPLE_BYTES,
    isWhole: meta.format === "heif",
  });
  const crop = aperture && toCrop(aperture, meta.autoOrient);
  const { width, height } = crop ?? meta.autoOrient;
  return { bytes, page, crop, width, height };
}

/** Names an image that is whole, but of a kind that isn't read. */
export function unsupportedImage(kind: string): EngineError {
  return new EngineError("unsupported_image", `${kind} aren't read. Save it as JPEG or PNG.`);
}

const [NEW_SUBFILE_TYPE, COMPRESSION, REDUCED, MAX_PAGES] = [254, 259, 1, 16];
/** Compressions of TIFF that the decoder lacks (libtiff, tiff.h). */
const UNREAD_COMPRESSIONS: Readonly<Record<number, string>> = {
  6: "the JPEG of TIFF 6.0",
  34661: "JBIG",
  34712: "JPEG 2000",
  34887: "LERC",
  34925: "LZMA",
  50000: "Zstandard",
  50001: "WebP",
  50002: "JPEG XL",
};

/**
 * Returns the first page of a TIFF that isn't marked as a reduced image, else its first one, and
 * how that is compressed. Null for other files, and a damaged one.
 */
function readTiffPage(bytes: Buffer): { page: number; compression: number } | null {
  const isLittle = bytes.toString("latin1", 0, 4) === "II*\0";
  if (!isLittle && bytes.toString("latin1", 0, 4) !== "MM\0*") return null;
  const short = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  let first = null;
  let directory = bytes.length >= 8 ? long(4) : 0;
  for (let page = 0; page < MAX_PAGES && directory > 0; page++) {
    if (directory + 2 > bytes.length) return first;
    const end = directory + 2 + 12 * short(directory);
    if (end + 4 > bytes.length) return first;
    let [kind, compression] = [0, 0];
    for (let at = directory + 2; at < end; at += 12) {
      if (short(at) === NEW_SUBFILE_TYPE) kind = long(at + 8);
      if (short(at) === COMPRESSION) compression = short(at + 8);
    }
    first ??= { page, compression };
    if ((kind & REDUCED) === 0) return { page, compression };
    directory = long(end);
  }
  return first;
}

/** Opens the image of a file to decode it. */
function decode({ bytes, page = 0, crop }: Pick<ImageFile, "bytes" | "page" | "crop">) {
  const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error", page });
  return crop ? image.extract(crop) : image;
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
  const data = await decode(image)
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

/**
 * Decodes an image upright, to `side` pixels a side, to 16-bit RGB. Transparency becomes the grey
 * `white`, up to 255. Error: `undecodable_image`.
 */
export async function readDeepRgb(image: ImageFile, side: number, white: number): Promise<Pixels> {
  const { data, info } = await decode(image)
    .autoOrient()
    .toColourspace("rgb16")
    .flatten({ background: { r: white, g: white, b: white } })
    .resize(side, side, { fit: "inside", withoutEnlargement: true })
    .raw({ depth: "ushort" })
    .toBuffer({ resolveWithObject: true })
    .catch(throwUndecodable);
  return { data, width: info.width, height: info.height };
}

/** Decodes an image upright to 8-bit RGBA pixels. Errors: `undecodable_image`, `too_large`. */
export function readRgba(image: ImageFile): Promise<Buffer> {
  if (image.width * image.height > MAX_RGBA_PIXELS) {
    throw new EngineError("too_large", `At most ${MAX_RGBA_PIXELS} pixels are returned.`);
  }
  return decode(image)
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
  return decode(image)
    .autoOrient()
    .extract(area)
    .png({ compressionLevel: 1 })
    .toBuffer()
    .catch(throwUndecodable);
}

/** Lays an image on a colour and encodes it as PNG. Errors: `undecodable_image`. */
export function flatten(image: ImageFile, background: string): Promise<Buffer> {
  return decode(image)
    .autoOrient()
    .flatten({ background })
    .png({ compressionLevel: 1 })
    .toBuffer()
    .catch(throwUndecodable);
}

/**
 * Encodes the upright image as JPEG of at most `side` pixels a side. Errors: `undecodable_image`.
 */
export function toJpeg(image: ImageFile, side: number): Promise<Buffer> {
  return decode(image)
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
