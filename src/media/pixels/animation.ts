import { crc32 } from "node:zlib";

/**
 * Yields each frame of an animation but the first, as a file of its own. Of a PNG it has the size
 * of what the frame changes; of a GIF or WebP all of the canvas. Yields none of another image, and
 * none after damage. Sources: GIF89a; RFC 9649, 2.7; PNG specification (third edition), 11.3.6.
 */
export function laterFrames(bytes: Uint8Array): Iterable<Uint8Array> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.toString("latin1", 0, 4) === "GIF8") return gifFrames(file);
  if (file.toString("latin1", 8, 12) === "WEBP") return webpFrames(file);
  return file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE) ? pngFrames(file) : [];
}

/** Whether the first bytes of a file are of a GIF, or of an animated PNG or WebP. */
export function mayBeAnimated(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const text = bytes.toString("latin1", 0, 16);
  if (text.startsWith("GIF8")) return true;
  if (text.startsWith("WEBPVP8X", 8)) return (bytes[20]! & WEBP_ANIMATION) !== 0;
  return text.startsWith("PNG", 1) && bytes.includes("acTL");
}

const GIF = { extension: 0x21, control: 0xf9, image: 0x2c, trailer: 0x3b } as const;

function* gifFrames(file: Buffer): Generator<Uint8Array> {
  const head = 13 + colourTableBytes(file[10]);
  let [at, start, frame] = [head, -1, 0];
  while (at < file.length) {
    const block = file[at];
    if (block === GIF.extension) {
      if (file[at + 1] === GIF.control) start = at;
      at = endOfSubBlocks(file, at + 2);
    } else if (block === GIF.image) {
      const end = endOfSubBlocks(file, at + 11 + colourTableBytes(file[at + 9]));
      const image = file.subarray(start < 0 ? at : start, end);
      const isWhole = end <= file.length;
      if (frame++ > 0 && isWhole) {
        yield Buffer.concat([file.subarray(0, head), image, Buffer.of(GIF.trailer)]);
      }
      [at, start] = [end, -1];
    } else return;
  }
}

/** Bytes of the colour table that follows a GIF's packed field. */
function colourTableBytes(packed = 0): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}

function endOfSubBlocks(file: Buffer, start: number): number {
  let at = start;
  while (at < file.length && file[at]! > 0) at += file[at]! + 1;
  return at + 1;
}

const WEBP_ANIMATION = 2;

function* webpFrames(file: Buffer): Generator<Uint8Array> {
  const head: Buffer[] = [];
  let frame = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const type = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    const chunk = file.subarray(at, end);
    if (end > file.length) return;
    if (type !== "ANMF") head.push(chunk);
    else if (frame++ > 0) {
      const body = Buffer.concat([Buffer.from("WEBP"), ...head, chunk]);
      yield Buffer.concat([Buffer.from("RIFF"), uint32(body.length, "LE"), body]);
    }
    at = end;
  }
}

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

function* pngFrames(file: Buffer): Generator<Uint8Array> {
  const head: { type: string; data: Buffer }[] = [];
  let size: Buffer | null = null;
  let parts: Buffer[] = [];
  for (let at = PNG_SIGNATURE.length; at + 12 <= file.length;) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return;
    const type = file.toString("latin1", at + 4, at + 8);
    const data = file.subarray(at + 8, end - 4);
    if (type === "fdAT") parts.push(data.subarray(4));
    else if (type === "fcTL" || type === "IEND") {
      if (size && parts.length > 0) yield toPng(head, size, Buffer.concat(parts));
      [size, parts] = [data.subarray(4, 12), []];
    } else if (type !== "IDAT" && type !== "acTL" && parts.length === 0) head.push({ type, data });
    at = end;
  }
}

function toPng(head: { type: string; data: Buffer }[], size: Buffer, pixels: Buffer): Buffer {
  const chunks = head.map(({ type, data }) =>
    type === "IHDR"
      ? pngChunk(type, Buffer.concat([size, data.subarray(8)]))
      : pngChunk(type, data),
  );
  const end = [pngChunk("IDAT", pixels), pngChunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([PNG_SIGNATURE, ...chunks, ...end]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([uint32(data.length, "BE"), body, uint32(crc32(body), "BE")]);
}

function uint32(value: number, order: "LE" | "BE"): Buffer {
  const bytes = Buffer.alloc(4);
  if (order === "LE") bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
}
