import { unreadableImage } from "../decoder-errors.ts";
import type { Size } from "./rect.ts";

/** Pixels of four bytes (red, green, blue, alpha), rows from the top. */
export interface RgbaImage extends Size {
  data: Uint8ClampedArray;
}

/** Bytes of a pixel. */
export const CHANNELS = 4;

/** Quality of 100, and no step that takes much time for a few bytes. */
const ENCODING = { quality: 85, progressive: false, optimize_coding: false } as const;

/** Keeps the codec from writing to the log. */
const SILENT = { print: () => {}, printErr: () => {} };

type Encode = Awaited<ReturnType<typeof loadEncoder>>;

/** Encoder of this isolate, once a request has loaded it. */
let encoder: Encode | null = null;

/**
 * Decodes a JPEG in this isolate with MozJPEG, and returns what `use` makes of its pixels: those of
 * a contact sheet take 7 MB. It is for files that this service has made: the pixels of others may
 * not fit into memory. Each call has a decoder of its own, whose 16 MB are free after it. Throws
 * `unreadable_image`.
 */
export async function decodeJpeg<T>(jpeg: Uint8Array, use: (image: RgbaImage) => T): Promise<T> {
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

/** Encodes pixels as a JPEG. */
export async function encodeJpeg(image: RgbaImage): Promise<Uint8Array> {
  encoder ??= await loadEncoder();
  return new Uint8Array(await encoder(image, ENCODING));
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
