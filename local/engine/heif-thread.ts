import { parentPort, workerData } from "node:worker_threads";
import libheif from "libheif-js/wasm-bundle.js";

/** A HEIF file, and whether its pixels are wanted. */
export interface HeifJob {
  bytes: Uint8Array;
  decode: boolean;
  maxPixels: number;
}

/** Size of the upright primary image, and its RGBA pixels if they were wanted. */
export interface HeifImage {
  width: number;
  height: number;
  data: Uint8ClampedArray | null;
}

/** The image, or why there is none. */
export type HeifResult = HeifImage | "undecodable_image" | "too_large";

console.log = () => {}; // libheif prints what it rejects

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
parentPort?.postMessage(await read(workerData as HeifJob));

async function read({ bytes, decode, maxPixels }: HeifJob): Promise<HeifResult> {
  const image = new libheif.HeifDecoder().decode(bytes).find((each) => each.is_primary());
  if (!image) return "undecodable_image";
  const size = { width: image.get_width(), height: image.get_height() };
  if (size.width * size.height > maxPixels) return "too_large";
  if (!decode) return { ...size, data: null };
  const target = { ...size, data: new Uint8ClampedArray(size.width * size.height * 4) };
  const { promise, resolve } = Promise.withResolvers<HeifImage | null>();
  image.display(target, resolve);
  return (await promise) ?? "undecodable_image";
}
