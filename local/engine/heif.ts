import libheif from "libheif-js/wasm-bundle.js";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import { takeAperture, toCrop } from "./heif-aperture.ts";
import { requireBounded } from "./image-bounds.ts";

console.log = () => {}; // libheif prints what it rejects

/** Reads the size of a HEIF file's upright primary image. Errors: `decodeHeif`. */
export function readHeifSize(bytes: Buffer) {
  const { crop, width, height } = openHeif(bytes);
  return crop ? { width: crop.width, height: crop.height } : { width, height };
}

/**
 * Decodes the upright primary image of a HEIF file into a PNG. Thumbnails, depth maps and other
 * images are ignored. Errors: `undecodable_image`, `too_large`.
 */
export async function decodeHeif(bytes: Buffer): Promise<Buffer> {
  const { image, crop, width, height } = openHeif(bytes);
  const target = { width, height, data: new Uint8ClampedArray(width * height * 4) };
  const { promise, resolve } = Promise.withResolvers<object | null>();
  image.display(target, resolve);
  if (!(await promise)) throw undecodable();
  const pixels = sharp(target.data, { raw: { width, height, channels: 4 } });
  return (crop ? pixels.extract(crop) : pixels).png({ compressionLevel: 1 }).toBuffer();
}

function openHeif(bytes: Buffer) {
  const aperture = takeAperture(bytes);
  const image = listImages(bytes).find((each) => each.is_primary());
  if (!image) throw undecodable();
  const size = { width: image.get_width(), height: image.get_height() };
  requireBounded({ ...size, components: 4, bytesPerComponent: 1, isWhole: true });
  return { image, ...size, crop: aperture && toCrop(aperture, size) };
}

function listImages(bytes: Buffer) {
  try {
    return new libheif.HeifDecoder().decode(bytes);
  } catch (cause) {
    throw undecodable(cause); // libheif, or its memory, can't stand the file
  }
}

function undecodable(cause?: unknown): EngineError {
  return new EngineError("undecodable_image", "The image can't be decoded.", { cause });
}
