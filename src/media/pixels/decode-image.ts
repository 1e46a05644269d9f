import { INGEST } from "../../config.ts";
import type { RangedFile } from "../container/mp4-boxes.ts";
import { toImageError, unreadableImage } from "../decoder-errors.ts";
import type { ExternalDecoder } from "../decoder-request.ts";
import { decodeImageExternally } from "../decoder.ts";
import { readOrientation } from "../exif/exif-block.ts";
import { findRawPreview } from "../exif/raw-preview.ts";
import { readTiffSize } from "../exif/tiff.ts";
import { imageFormat } from "../image-format.ts";
import { HEAD_BYTES, requireMediaType } from "../media-type.ts";
import { laterFrames, mayBeAnimated } from "./animation.ts";
import { type ImageFile, imageOfBytes } from "./image-file.ts";
import { readImageSize, requireDecodable } from "./image-size.ts";
import { CHANNELS, encodeJpeg } from "./jpeg.ts";
import type { Size } from "./rect.ts";
import { countVisible, isBlank, isTransparent, layOn, mayBeTransparent } from "./transparency.ts";

export interface DecodedImage {
  /** At most `INGEST.keyframeWidth` pixels wide and high. */
  jpeg: Uint8Array;
  /** The same on the other background, black or white, if the original is transparent. */
  otherJpeg: Uint8Array | null;
  /** Width of the original as displayed, or of a raw's preview, in pixels. */
  width: number;
  height: number;
  /** Media type. */
  format: string;
}

/** What decodes images. */
export interface ImageEnv extends ExternalDecoder {
  IMAGES: ImagesBinding;
}

/** Bytes of a file in which the size of an image is, if it isn't a TIFF. */
const HEADER_BYTES = 1024 * 1024;

/**
 * Decodes an image into a JPEG that browsers and models take. The original is streamed and never
 * whole in memory; it is streamed twice for the binding. Throws `source_missing`, `not_an_image`,
 * `unreadable_image`, `too_large`, `unsupported_codec` without a decoder for its format, and
 * `upstream_failed` or `upstream_unavailable` when a retry may help.
 */
export async function decodeImage(env: ImageEnv, file: ImageFile): Promise<DecodedImage> {
  const mime = await requireMediaType(await file.read(0, HEAD_BYTES), "image");
  const { name, decoder, isRaw } = imageFormat(mime)!;
  if (isRaw) return decodePreview(env, file, mime);
  if (decoder === "IMAGES") {
    const decoded = await decodeByImages(env.IMAGES, streamOf(file), {
      isSideways: async () => ((await readOrientation(file, mime)) ?? 1) >= FIRST_SIDEWAYS,
    });
    const head = await file.read(0, HEADER_BYTES);
    const frame = mayBeAnimated(head) ? await findVisibleFrame(env.IMAGES, file) : null;
    const { jpeg } = frame ? await decodeByImages(env.IMAGES, streamOf(frame)) : decoded;
    const isOpaque = !mayBeTransparent(frame ? await frame.read(0, HEADER_BYTES) : head);
    const flat = isOpaque ? { jpeg } : await flatten(env.IMAGES, streamOf(frame ?? file), jpeg);
    return { ...decoded, ...flat };
  }
  const header = await readHeaderSize(file, mime);
  if (header) requireDecodable(header);
  const stream = await file.stream(0, file.size);
  const decoded = await decodeImageExternally(env, name, stream, INGEST.keyframeWidth);
  requireDecodable(decoded);
  return { ...decoded, otherJpeg: null, format: mime };
}

async function readHeaderSize(file: RangedFile, mime: string): Promise<Size | undefined> {
  return mime === "image/tiff"
    ? readTiffSize(file)
    : readImageSize(await file.read(0, HEADER_BYTES));
}

/** Decodes the JPEG in a camera raw. */
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

/** The first of the EXIF orientations that swap width and height. */
const FIRST_SIDEWAYS = 5;

interface Turn {
  /** Clockwise, on top of what the file says. */
  rotate?: 0 | 90 | 180 | 270;
  /** Whether width and height swap: is asked where the small image is too square to say it. */
  isSideways?: () => Promise<boolean>;
}

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
      .transform({ width: side, height: side, fit: "scale-down", ...(rotate && { rotate }) })
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
    return { jpeg, otherJpeg: null, width, height, format: original.format };
  } catch (cause) {
    throw toImageError(cause);
  }
}

function streamOf(file: ImageFile) {
  return () => file.stream(0, file.size);
}

/** Frames of an animation that are decoded to find one that isn't blank. */
const MAX_FRAMES = 16;
/** Size at which they are. */
const FRAME_SIZE = { width: 256, height: 256, fit: "scale-down" } as const;

/**
 * Finds the first frame of an animation that isn't blank, as a file of its own: the binding decodes
 * the first frame only. Null if that is the first one, and if the first `MAX_FRAMES` are blank. An
 * animation is read into memory, `LIMITS.imageBytes` at most.
 */
async function findVisibleFrame(images: ImagesBinding, file: ImageFile): Promise<ImageFile | null> {
  if (!(await isBlankImage(images, file))) return null;
  let frameCount = 1;
  for (const bytes of laterFrames(await file.read(0, file.size))) {
    if (++frameCount > MAX_FRAMES) return null;
    const frame = imageOfBytes(bytes);
    if (!(await isBlankImage(images, frame))) return frame;
  }
  return null;
}

/** Whether an image is transparent or of one colour. Throws errors of the binding. */
async function isBlankImage(images: ImagesBinding, file: ImageFile): Promise<boolean> {
  try {
    const input = images.input(await file.stream(0, file.size)).transform(FRAME_SIZE);
    const result = await input.output({ format: "rgba" });
    return isBlank(new Uint8ClampedArray(await result.response().arrayBuffer()));
  } catch (cause) {
    const error = toImageError(cause);
    if (error.code === "unreadable_image") return true; // another frame may be readable
    throw error;
  }
}

/** Levels of the backgrounds that a transparent image is seen on. */
const BACKGROUNDS = { white: 255, black: 0 };

/**
 * Decodes a transparent image on white and on black, since its text may have the colour of one of
 * them. The keyframe is the one of which more is seen. Keeps the JPEG of an opaque image.
 */
async function flatten(
  images: ImagesBinding,
  open: () => Promise<ReadableStream<Uint8Array>>,
  jpeg: Uint8Array,
): Promise<Pick<DecodedImage, "jpeg" | "otherJpeg">> {
  const { width, height } = readImageSize(jpeg)!;
  try {
    const result = await images
      .input(await open())
      .transform({ width, height, fit: "squeeze" })
      .output({ format: "rgba" });
    const data = new Uint8ClampedArray(await result.response().arrayBuffer());
    const image = { width, height, data };
    const isWhole = data.length === width * height * CHANNELS;
    if (!isWhole || !isTransparent(image)) return { jpeg, otherJpeg: null };
    const [white, black] = [layOn(image, BACKGROUNDS.white), layOn(image, BACKGROUNDS.black)];
    const seenOnWhite = countVisible(white, BACKGROUNDS.white);
    const order =
      seenOnWhite < countVisible(black, BACKGROUNDS.black) ? [black, white] : [white, black];
    const [best, other] = await Promise.all(order.map((image) => encodeJpeg(image)));
    return { jpeg: best!, otherJpeg: other! };
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
