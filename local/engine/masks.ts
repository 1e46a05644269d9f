import { once } from "node:events";
import { Worker } from "node:worker_threads";
import sharp from "sharp";
import { type ImageFile, readPixels } from "./image.ts";
import type { MaskJob } from "./mask-thread.ts";
import type { Box } from "./objects.ts";

export const MASK_MODEL = "grabcut-opencv-4.12";

/** Longer side in pixels of the image that is segmented: the time grows with its area. */
const WORK_SIDE = 320;

/** One byte per pixel in row-major order: 255 is foreground. Smaller than its image. */
export interface Mask {
  data: Uint8Array;
  width: number;
  height: number;
}

export interface MaskMaker {
  /**
   * Segments the foreground within `boxes`; an empty list means the whole image. Errors:
   * `undecodable_image`, `failed`.
   */
  cut(image: ImageFile, boxes: Box[], signal: AbortSignal): Promise<Mask>;
}

/** Backgrounds of a cut-out. */
export const BACKGROUNDS = ["clear", "white"] as const;
type Background = (typeof BACKGROUNDS)[number];

interface Thread {
  worker: Worker;
  /** Aborts when the thread has ended. */
  ended: AbortSignal;
}

/**
 * Runs OpenCV in a thread of its own, because it blocks for up to a second. A thread is discarded
 * after a failure: its WebAssembly memory may be in any state.
 */
export async function loadMasks(): Promise<MaskMaker> {
  let current: Thread | null = await startThread();
  return {
    async cut(image, boxes, signal) {
      const { width, height } = fitInside(image, WORK_SIDE);
      const { data: pixels } = await readPixels(image, width, height);
      const thread = (current ??= await startThread());
      try {
        const job: MaskJob = {
          pixels,
          width,
          height,
          boxes: boxes.length ? boxes : [[0, 0, 1, 1]],
        };
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have none
        thread.worker.postMessage(job);
        return { data: await nextMessage<Uint8Array>(thread, signal), width, height };
      } catch (error) {
        current = null;
        await thread.worker.terminate();
        throw error;
      }
    },
  };
}

async function startThread(): Promise<Thread> {
  const worker = new Worker(new URL("mask-thread.ts", import.meta.url));
  const end = new AbortController();
  worker.once("exit", (code) => end.abort(new Error(`The mask thread ended with ${code}.`)));
  const thread = { worker, ended: end.signal };
  await nextMessage(thread, end.signal);
  return thread;
}

/** Resolves to the thread's next message; rejects with its error, or when it or the caller ends. */
async function nextMessage<T>({ worker, ended }: Thread, signal: AbortSignal): Promise<T> {
  const [message] = await once(worker, "message", { signal: AbortSignal.any([ended, signal]) });
  return message;
}

function fitInside({ width, height }: ImageFile, side: number) {
  const scale = Math.min(1, side / Math.max(width, height));
  const toPixels = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: toPixels(width), height: toPixels(height) };
}

/** Encodes a mask as 8-bit grey PNG of the image's size, or of at most `side` pixels a side. */
export async function encodeMask(
  mask: Mask,
  image: ImageFile,
  side: number | null,
): Promise<Buffer> {
  const { width, height } = side === null ? image : fitInside(image, side);
  return scaleMask(mask, width, height).png().toBuffer();
}

/** Encodes the upright image as PNG with a new background where the mask is black. */
export async function cutOut(
  image: ImageFile,
  mask: Mask,
  background: Background,
): Promise<Buffer> {
  const { width, height } = image;
  const raw = { width, height, channels: 1 } as const;
  const alpha = await scaleMask(mask, width, height).raw().toBuffer();
  const shape = await sharp(Buffer.alloc(width * height), { raw })
    .joinChannel(alpha, { raw })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const cut = await sharp(image.bytes)
    .autoOrient()
    .toColourspace("srgb")
    .ensureAlpha()
    .composite([{ input: shape, blend: "dest-in" }])
    .png()
    .toBuffer();
  return background === "clear" ? cut : sharp(cut).flatten({ background }).png().toBuffer();
}

function scaleMask({ data, width, height }: Mask, toWidth: number, toHeight: number) {
  return sharp(data, { raw: { width, height, channels: 1 } })
    .resize(toWidth, toHeight, { fit: "fill", kernel: "cubic" })
    .toColourspace("b-w");
}
