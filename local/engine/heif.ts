import { once } from "node:events";
import { Worker } from "node:worker_threads";
import sharp from "sharp";
import { EngineError } from "./errors.ts";
import type { HeifImage, HeifJob, HeifResult } from "./heif-thread.ts";
import { MAX_PIXELS } from "./image.ts";

/** Reads the size of a HEIF file's upright primary image. Errors: `decodeHeif`. */
export async function readHeifSize(bytes: Buffer, signal: AbortSignal) {
  const { width, height } = await run({ bytes, decode: false, maxPixels: MAX_PIXELS }, signal);
  return { width, height };
}

/**
 * Decodes the upright primary image of a HEIF file into a PNG. Thumbnails, depth maps and other
 * images are ignored. Errors: `undecodable_image`, `too_large`.
 */
export async function decodeHeif(bytes: Buffer, signal: AbortSignal): Promise<Buffer> {
  const job = { bytes, decode: true, maxPixels: MAX_PIXELS };
  const { data, width, height } = await run(job, signal);
  return sharp(data!, { raw: { width, height, channels: 4 } })
    .png({ compressionLevel: 1 })
    .toBuffer();
}

/** Runs libheif in a thread of its own, because it blocks for seconds and can be ended there. */
async function run(job: HeifJob, signal: AbortSignal): Promise<HeifImage> {
  const worker = new Worker(new URL("heif-thread.ts", import.meta.url), { workerData: job });
  try {
    const result = await firstMessage(worker, signal);
    if (typeof result === "object") return result;
    if (result === "undecodable_image") throw undecodable();
    throw new EngineError(result, `The image has more than ${MAX_PIXELS / 1e6} megapixels.`);
  } finally {
    await worker.terminate();
  }
}

/** A thread that fails has met a file that libheif can't stand. */
async function firstMessage(worker: Worker, signal: AbortSignal): Promise<HeifResult> {
  const end = new AbortController();
  worker.once("exit", () => end.abort());
  const either = AbortSignal.any([signal, end.signal]);
  try {
    const [message] = await once(worker, "message", { signal: either });
    return message;
  } catch (cause) {
    signal.throwIfAborted();
    console.error(cause);
    throw undecodable(cause);
  }
}

function undecodable(cause?: unknown): EngineError {
  return new EngineError("undecodable_image", "The image can't be decoded.", { cause });
}
