import { randomBytes } from "node:crypto";
import { copyFile, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { drawText } from "../tools/sample/text-image.ts";
import { encodeVideo } from "../tools/sample/video.ts";

const CHUNK = 2 ** 20;

/** Writes a video of three seconds to a folder and returns its path. */
export async function writeShortVideo(folder: string): Promise<string> {
  const video = join(folder, "short.mp4");
  const image = await drawText(["LARGE"], { width: 320, height: 180 });
  await encodeVideo(video, [{ image, seconds: 3 }], { width: 320, height: 180, fps: 10 });
  return video;
}

/**
 * Writes a playable MP4 of exactly `bytes` bytes: the video, then a `free` box (ISO/IEC 14496-12)
 * of random bytes, which players skip.
 */
export async function writePaddedVideo(video: string, file: string, bytes: number): Promise<void> {
  await copyFile(video, file);
  const { size } = await stat(video);
  const box = Buffer.alloc(8);
  box.writeUInt32BE(bytes - size);
  box.write("free", 4);
  const handle = await open(file, "r+");
  try {
    await handle.write(box, 0, 8, size);
    for (let at = size + 8; at < bytes; at += CHUNK) {
      await handle.write(randomBytes(Math.min(CHUNK, bytes - at)), 0, undefined, at);
    }
  } finally {
    await handle.close();
  }
}
