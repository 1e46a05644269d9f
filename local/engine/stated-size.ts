import { open } from "node:fs/promises";

/** What a file says of itself; 0 for what it doesn't state. */
export interface StatedSize {
  bytes: number;
  seconds: number;
}

/** Bytes in which headers state sizes. */
const HEAD_BYTES = 64 * 1024;
/** Sizes from here on are placeholders of writers that can't seek. */
const NO_SIZE = 0xffff_fff0;
/** File Properties Object of ASF (Advanced Systems Format Specification, 3.2). */
const ASF_PROPERTIES = Buffer.from("a1dcab8c47a9cf118ee400c00c205365", "hex");
const BROADCAST = 1;

/**
 * Returns the bytes and the seconds that the header of an AVI, WAV, AIFF or ASF file states. Of a
 * file that is cut off, FFmpeg reports only the length of what is left.
 */
export async function readStatedSize(path: string): Promise<StatedSize> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.length < 100) return { bytes: 0, seconds: 0 };
    const form = head.toString("latin1", 0, 4);
    if (form === "RIFF" || form === "FORM") {
      const size = form === "RIFF" ? head.readUInt32LE(4) : head.readUInt32BE(4);
      return { bytes: size > 0 && size < NO_SIZE ? size + 8 : 0, seconds: readAviLength(head) };
    }
    const properties = head.indexOf(ASF_PROPERTIES);
    if (properties < 0 || properties + 92 > head.length) return { bytes: 0, seconds: 0 };
    if (head.readUInt32LE(properties + 88) & BROADCAST) return { bytes: 0, seconds: 0 };
    const played = Number(head.readBigUInt64LE(properties + 64)) / 1e7;
    const preroll = Number(head.readBigUInt64LE(properties + 80)) / 1000;
    return { bytes: Number(head.readBigUInt64LE(properties + 40)), seconds: played - preroll };
  } finally {
    await file.close();
  }
}

/** Returns the seconds of the first stream of an AVI by its header (`AVISTREAMHEADER`). */
function readAviLength(head: Buffer): number {
  const at = head.indexOf("strh");
  if (at < 0 || at + 44 > head.length) return 0;
  const [scale, rate] = [head.readUInt32LE(at + 28), head.readUInt32LE(at + 32)];
  return rate > 0 ? (head.readUInt32LE(at + 40) * scale) / rate : 0;
}
