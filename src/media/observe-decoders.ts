import { observe } from "../errors.ts";
import { transformClip } from "./frames.ts";
import type { DecoderEnv } from "./decoder.ts";
import { unreadableImage } from "./decoder-errors.ts";
import { decodeImage } from "./pixels/decode-image.ts";
import { readImageSize } from "./pixels/image-size.ts";
import { lumaPixels } from "./pixels/luma.ts";
import { observeContactSheet } from "./shots/contact-sheet.ts";

/** Contact sheet that is made of a video: its tiles, and the seconds from which they are. */
const SHEET = { count: 6, seconds: 6 };
const TILE = { width: 64, height: 36 };
/** Time of the frame. */
const FRAME_SECONDS = 3.6;

/**
 * Makes a contact sheet of the first 6 seconds of a video, with 6 tiles, and the frame at 3.6
 * seconds. Takes two operations of FRAMES.
 */
export async function observeFrames(env: DecoderEnv, video: Uint8Array<ArrayBuffer>) {
  const file = new Blob([video]);
  const [contactSheet, frame] = await Promise.all([
    observe(() => observeContactSheet(env, file, SHEET, TILE)),
    observe(() => observeFrame(env, file)),
  ]);
  return { contactSheet, frame };
}

async function observeFrame(env: DecoderEnv, file: Blob) {
  const clip = { file, codec: "avc", atSeconds: FRAME_SECONDS } as const;
  const jpeg = await transformClip(env, clip, { size: {} });
  const size = readImageSize(jpeg);
  if (!size) throw unreadableImage("a frame without a size");
  const [luma] = await lumaPixels(jpeg, { width: 1, height: 1 });
  return { ...size, luma: luma! };
}

/** Decodes images. Takes two operations of IMAGES each. */
export function observeImages(images: ImagesBinding, files: readonly Uint8Array<ArrayBuffer>[]) {
  return Promise.all(
    files.map((file) =>
      observe(async () => {
        const open = async () => new Blob([file]).stream();
        const { format, width, height } = await decodeImage(images, open);
        return { format, width, height };
      }),
    ),
  );
}
