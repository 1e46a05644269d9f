import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";

/**
 * Frames of 64 × 48 pixels: transparent, white, and white with a red rectangle at 16, 12, whose top
 * left quarter is darker.
 */
const FRAMES = {
  clear: () => Buffer.alloc(64 * 48 * 4),
  white: () => Buffer.alloc(64 * 48 * 4, 255),
  square: () => {
    const data = Buffer.alloc(64 * 48 * 4, 255);
    for (let y = 12; y < 36; y++) {
      for (let x = 16; x < 48; x++) {
        data.set([x < 32 && y < 24 ? 90 : 220, 0, 0, 255], 4 * (64 * y + x));
      }
    }
    return data;
  },
} as const;

export type FrameName = keyof typeof FRAMES;

/** Makes an animation of frames in a format. */
export function animation(format: "gif" | "webp" | "apng", names: FrameName[]): Promise<Buffer> {
  if (format === "apng") return Promise.resolve(apng(names));
  const raw = { width: 64, height: 48 * names.length, channels: 4 as const, pageHeight: 48 };
  const image: Sharp = sharp(Buffer.concat(names.map((name) => FRAMES[name]())), { raw });
  const delay = names.map(() => 100);
  return format === "gif"
    ? image.gif({ delay, loop: 0 }).toBuffer()
    : image.webp({ delay, loop: 0, lossless: true }).toBuffer();
}

/** Makes an APNG whose later frames have the size of a square. */
function apng(names: FrameName[]): Buffer {
  let sequence = 0;
  const frames = names.map((name, i) => {
    const isSquare = i > 0 && name === "square";
    const [x, y, width, height] = isSquare ? [16, 12, 32, 24] : [0, 0, 64, 48];
    const rows = Array.from({ length: height }, (_, row) => {
      const start = 4 * (64 * (y + row) + x);
      return Buffer.concat([Buffer.of(0), FRAMES[name]().subarray(start, start + 4 * width)]);
    });
    const pixels = deflateSync(Buffer.concat(rows));
    const control = Buffer.alloc(26);
    for (const [at, value] of [sequence++, width, height, x, y].entries()) {
      control.writeUInt32BE(value, 4 * at);
    }
    control.writeUInt16BE(1, 20);
    control.writeUInt16BE(10, 22);
    if (i === 0) return Buffer.concat([chunk("fcTL", control), chunk("IDAT", pixels)]);
    return Buffer.concat([
      chunk("fcTL", control),
      chunk("fdAT", Buffer.concat([uint32(sequence++), pixels])),
    ]);
  });
  const header = Buffer.concat([uint32(64), uint32(48), Buffer.of(8, 6, 0, 0, 0)]);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("acTL", Buffer.concat([uint32(names.length), uint32(0)])),
    ...frames,
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
