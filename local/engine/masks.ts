import { once } from "node:events";
import { Worker } from "node:worker_threads";
import sharp from "sharp";
import type { MaskJob } from "./mask-thread.ts";
import type { Box } from "./objects.ts";
import { type Picture, readPixels } from "./picture.ts";

export const MASK_MODEL = "grabcut-opencv-4.12";

/** Pixels on the longer side of the picture that is looked at: the time grows with its area. */
const WORK_SIDE = 320;

/** A byte a pixel, rows from the top: 255 is foreground. Smaller than the picture it is of. */
export interface Mask {
  data: Uint8Array;
  width: number;
  height: number;
}

export interface MaskMaker {
  /**
   * What stands out within `boxes`; black where nothing does. An empty list stands for the whole
   * picture. Errors: `undecodable_image`, `failed`.
   */
  cut(picture: Picture, boxes: Box[], signal: AbortSignal): Promise<Mask>;
}

/** What a cut-out lies on. */
export const GROUNDS = ["clear", "white"] as const;
type Ground = (typeof GROUNDS)[number];

interface Thread {
  worker: Worker;
  /** Aborts when the thread has ended, for whatever reason. */
  ended: AbortSignal;
}

/**
 * OpenCV in a thread of its own, because it computes for up to a second without a pause. A thread
 * in which something failed is not used again: WebAssembly may be left in any state.
 */
export async function loadMasks(): Promise<MaskMaker> {
  let kept: Thread | null = await startThread();
  return {
    async cut(picture, boxes, signal) {
      const { width, height } = fitInside(picture, WORK_SIDE);
      const { data: pixels } = await readPixels(picture, width, height);
      const thread = (kept ??= await startThread());
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
        kept = null;
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

/** Rejects with what the thread threw, and when it or the caller ends. */
async function nextMessage<T>({ worker, ended }: Thread, signal: AbortSignal): Promise<T> {
  const [message] = await once(worker, "message", { signal: AbortSignal.any([ended, signal]) });
  return message;
}

function fitInside({ width, height }: Picture, side: number) {
  const scale = Math.min(1, side / Math.max(width, height));
  const toPixels = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: toPixels(width), height: toPixels(height) };
}

/** The mask as an 8-bit grey PNG of the picture's size, or of at most `side` pixels each way. */
export async function encodeMask(
  mask: Mask,
  picture: Picture,
  side: number | null,
): Promise<Buffer> {
  const { width, height } = side === null ? picture : fitInside(picture, side);
  return scaleMask(mask, width, height).png().toBuffer();
}

/** The upright picture as a PNG with another ground where the mask is black. */
export async function cutOut(picture: Picture, mask: Mask, ground: Ground): Promise<Buffer> {
  const { width, height } = picture;
  const raw = { width, height, channels: 1 } as const;
  const alpha = await scaleMask(mask, width, height).raw().toBuffer();
  const shape = await sharp(Buffer.alloc(width * height), { raw })
    .joinChannel(alpha, { raw })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const cut = await sharp(picture.bytes)
    .autoOrient()
    .toColourspace("srgb")
    .ensureAlpha()
    .composite([{ input: shape, blend: "dest-in" }])
    .png()
    .toBuffer();
  return ground === "clear" ? cut : sharp(cut).flatten({ background: ground }).png().toBuffer();
}

function scaleMask({ data, width, height }: Mask, toWidth: number, toHeight: number) {
  return sharp(data, { raw: { width, height, channels: 1 } })
    .resize(toWidth, toHeight, { fit: "fill", kernel: "cubic" })
    .toColourspace("b-w");
}
