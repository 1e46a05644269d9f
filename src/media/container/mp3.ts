import type { RangedFile } from "./mp4-boxes.ts";

/** Bytes of a tag's header, and of a frame in which a Xing header may be. */
const TAG_BYTES = 10;
const FRAME_BYTES = 256;

/**
 * Returns the number of frames that the Xing header of an MP3 states, which most encoders write.
 * Null without one.
 */
export async function readFrameCount(file: RangedFile): Promise<number | null> {
  const start = await findTagEnd(file);
  const frame = Buffer.from(await file.read(start, Math.min(file.size, start + FRAME_BYTES)));
  const at = Math.max(frame.indexOf("Xing"), frame.indexOf("Info"));
  const hasCount = at >= 0 && at + 12 <= frame.length && (frame.readUInt32BE(at + 4) & 1) === 1;
  return hasCount ? frame.readUInt32BE(at + 8) : null;
}

/** Returns the end of the ID3v2 tag, whose size has 7 bits a byte: 0 without one. */
async function findTagEnd(file: RangedFile): Promise<number> {
  if (file.size < TAG_BYTES) return 0;
  const head = Buffer.from(await file.read(0, TAG_BYTES));
  if (head.toString("latin1", 0, 3) !== "ID3") return 0;
  const size = [...head.subarray(6, 10)].reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return Math.min(file.size, TAG_BYTES + size);
}
