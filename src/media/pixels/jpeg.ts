import { unreadableImage } from "../decoder-errors.ts";
import { readImageSize, requireDecodable } from "./image-size.ts";
import type { Size } from "./rect.ts";

/** Pixels of four bytes (red, green, blue, alpha), rows from the top. */
export interface RgbaImage extends Size {
  data: Uint8ClampedArray;
}

/** Bytes of a pixel. */
export const CHANNELS = 4;

/** Pixels and scans of a JPEG that is decoded in the isolate: a contact sheet has 4 million. */
const MAX_PIXELS = 4_200_000;
const MAX_SCANS = 32;
const START_OF_IMAGE = Buffer.from([0xff, 0xd8]);
const START_OF_SCAN = Buffer.from([0xff, 0xda]);

/**
 * Checks by its headers that a JPEG can be decoded in the isolate: what needs memory are its
 * pixels, what needs time also its scans. Throws `unreadable_image` or `too_large`.
 */
export function requireSmallJpeg(jpeg: Uint8Array): void {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length);
  const size = bytes.subarray(0, 2).equals(START_OF_IMAGE) ? readImageSize(bytes) : undefined;
  if (!size) throw unreadableImage("not a JPEG, or without a size");
  requireDecodable(size, MAX_PIXELS);
  let scanCount = 0;
  for (let at = -1; (at = bytes.indexOf(START_OF_SCAN, at + 1)) >= 0;) {
    if (++scanCount > MAX_SCANS) throw unreadableImage("too many scans");
  }
}

/** No step that takes much time for a few bytes. */
const ENCODING = { progressive: false, optimize_coding: false } as const;
const QUALITY = 85;

/** Keeps the codec from writing to the log. */
const SILENT = { print: () => {}, printErr: () => {} };

type Encode = Awaited<ReturnType<typeof loadEncoder>>;

/** Encoder of this isolate, once a request has loaded it. */
let encoder: Encode | null = null;

/**
 * Decodes a JPEG in this isolate with MozJPEG, and returns what `use` makes of its pixels: those of
 * a contact sheet take 7 MB. Each call has a decoder of its own, whose 16 MB are free after it.
 * Throws what `requireSmallJpeg` throws.
 */
export async function decodeJpeg<T>(jpeg: Uint8Array, use: (image: RgbaImage) => T): Promise<T> {
  requireSmallJpeg(jpeg);
  const [codec, wasm] = await Promise.all([
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.js"),
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
  ]);
  const instantiateWasm = (
    imports: WebAssembly.Imports,
    done: (of: WebAssembly.Instance) => void,
  ) => {
    const instance = new WebAssembly.Instance(wasm.default, imports);
    done(instance);
    return instance.exports;
  };
  const options = { noInitialRun: true, instantiateWasm, ...SILENT };
  const decoder = await withoutLocation(() => codec.default(options));
  let image: RgbaImage | null;
  try {
    image = decoder.decode(jpeg, false);
  } catch (cause) {
    throw unreadableImage(cause);
  }
  if (!image) throw unreadableImage("no pixels");
  return use(image);
}

/** Encodes pixels as a JPEG of a quality of 100. */
export async function encodeJpeg(image: RgbaImage, quality = QUALITY): Promise<Uint8Array> {
  encoder ??= await loadEncoder();
  return new Uint8Array(await encoder(image, { ...ENCODING, quality }));
}

async function loadEncoder() {
  const [codec, wasm] = await Promise.all([
    import("@jsquash/jpeg/encode.js"),
    import("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"),
  ]);
  await withoutLocation(() => codec.init(wasm.default, SILENT));
  return codec.default;
}

/**
 * Initialises a codec, which sets a global `location` without a URL where there is none, as in
 * workerd. Others take that for the URL of a page, so it is removed.
 */
function withoutLocation<T>(init: () => Promise<T>): Promise<T> {
  const had = "location" in globalThis;
  const initialised = init();
  if (!had) Reflect.deleteProperty(globalThis, "location");
  return initialised;
}
