import { BlobSource, Input, MP4 } from "mediabunny";
import { AppError, observe } from "../errors.ts";
import { MAX_CLIP_BYTES } from "./clip-memory.ts";
import { type Clip, cutFrameClip } from "./container/clips.ts";
import { withContainerErrors } from "./container/open-container.ts";
import { presentWhole } from "./container/presented-track.ts";
import { unreadableImage } from "./decoder-errors.ts";
import { hasDecoder } from "./decoder-request.ts";
import { decodeExternally, type DecoderEnv } from "./decoder.ts";
import { isDecodedByFrames, transformByFrames } from "./frames.ts";
import { decodeImage, type ImageEnv } from "./pixels/decode-image.ts";
import { imageOfBytes } from "./pixels/image-file.ts";
import { readImageSize } from "./pixels/image-size.ts";
import { lumaPixels } from "./pixels/luma.ts";
import { observeContactSheet } from "./shots/contact-sheet.ts";

/** Contact sheet that is made of a video: its tiles, and the seconds from which they are. */
const SHEET = { count: 6, seconds: 6 };
const TILE = { width: 64, height: 36 };
/** Time of the frame. */
const FRAME_SECONDS = 3.6;
/** Time of the frame of each clip. */
const CLIP_SECONDS = 1.1;

/**
 * Makes a contact sheet of the first 6 seconds of a video, with 6 tiles, and the frame at 3.6
 * seconds. Takes two operations of FRAMES.
 */
export async function observeFrames(env: DecoderEnv, video: Uint8Array<ArrayBuffer>) {
  const file = new Blob([video]);
  const [contactSheet, frame] = await Promise.all([
    observe(() => observeContactSheet(env, file, SHEET, TILE)),
    observe(() => observeFrame(env, { file, codec: "avc", atSeconds: FRAME_SECONDS })),
  ]);
  return { contactSheet, frame };
}

/**
 * Cuts the frame at 1.1 seconds out of videos of other codecs, as ingest does, and decodes it by
 * FRAMES. Takes one operation of FRAMES each.
 */
export function observeCodecs(env: DecoderEnv, videos: readonly Uint8Array<ArrayBuffer>[]) {
  return Promise.all(
    videos.map(async (video) => {
      using input = new Input({ source: new BlobSource(new Blob([video])), formats: [MP4] });
      const cut = observe(async () => {
        const track = await withContainerErrors(() => input.getPrimaryVideoTrack());
        if (!track) throw new AppError("no_video_track", "The file has no video track.");
        return cutFrameClip(presentWhole(track), CLIP_SECONDS, MAX_CLIP_BYTES);
      });
      const { value: clip, error } = await cut;
      if (!clip) return { codec: null, isListed: false, value: null, error };
      const isListed = isDecodedByFrames(env, clip.codec);
      return { codec: clip.codec, isListed, ...(await observe(() => observeFrame(env, clip))) };
    }),
  );
}

/** Decodes the frame at 3.6 seconds of a video by the decoder. Null without one. */
export async function observeDecoder(env: DecoderEnv, video: Uint8Array<ArrayBuffer>) {
  if (!hasDecoder(env)) return null;
  const clip = { file: new Blob([video]), codec: "avc", atSeconds: FRAME_SECONDS } as const;
  return observe(async () => readFrame(await decodeExternally(env, clip, { size: {} })));
}

async function observeFrame(env: DecoderEnv, clip: Clip) {
  return readFrame(await transformByFrames(env.FRAMES, clip, { size: {} }));
}

async function readFrame(jpeg: Uint8Array) {
  const size = readImageSize(jpeg);
  if (!size) throw unreadableImage("a frame without a size");
  const [luma] = await lumaPixels(jpeg, { width: 1, height: 1 });
  return { ...size, luma: luma! };
}

/** Decodes images. Takes two operations of IMAGES each. */
export function observeImages(env: ImageEnv, files: readonly Uint8Array<ArrayBuffer>[]) {
  return Promise.all(
    files.map((file) =>
      observe(async () => {
        const { format, width, height } = await decodeImage(env, imageOfBytes(file));
        return { format, width, height };
      }),
    ),
  );
}
