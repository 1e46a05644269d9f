/** Images with a header of any size and almost no data, as decompression bombs have. */

export function png(width: number, height: number): Uint8Array {
  const size = Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, 0])]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", size), chunk("IDAT", Buffer.alloc(9)), chunk("IEND")];
  return Buffer.concat([signature, ...chunks]);
}

export function gif(width: number, height: number): Uint8Array {
  return Buffer.concat([
    Buffer.from("GIF89a"),
    u16le(width),
    u16le(height),
    Buffer.from([0, 0, 0x3b]),
  ]);
}

/** `commentBytes` come before the frame header, which has the size. */
export function jpeg(width: number, height: number, commentBytes = 0): Uint8Array {
  const comment = Buffer.concat([
    Buffer.from([0xff, 0xfe]),
    u16(commentBytes + 2),
    Buffer.alloc(commentBytes),
  ]);
  const frame = Buffer.concat([Buffer.from([0xff, 0xc0]), u16(17), Buffer.from([8])]);
  const components = Buffer.from([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  const start = Buffer.from([0xff, 0xd8]);
  return Buffer.concat([start, comment, frame, u16(height), u16(width), components]);
}

export function webp(width: number, height: number): Uint8Array {
  const canvas = [u32le(width - 1).subarray(0, 3), u32le(height - 1).subarray(0, 3)];
  return riff("VP8X", Buffer.concat([Buffer.alloc(4), ...canvas]));
}

export function losslessWebp(width: number, height: number): Uint8Array {
  const bits = u32le(((width - 1) | ((height - 1) << 14)) >>> 0);
  return riff("VP8L", Buffer.concat([Buffer.from([0x2f]), bits]));
}

export function lossyWebp(width: number, height: number): Uint8Array {
  const start = Buffer.from([0, 0, 0, 0x9d, 0x01, 0x2a]);
  return riff("VP8 ", Buffer.concat([start, u16le(width), u16le(height)]));
}

/** A file of the brand `heic` or `avif`, with a smaller image before the large one. */
export function heif(brand: "heic" | "avif", width: number, height: number): Uint8Array {
  const ispe = (w: number, h: number) => box("ispe", Buffer.alloc(4), u32(w), u32(h));
  const properties = box("ipco", ispe(64, 64), ispe(width, height));
  return Buffer.concat([
    box("ftyp", Buffer.from(`${brand}\0\0\0\0`)),
    box("meta", Buffer.alloc(4), box("iprp", properties)),
  ]);
}

/** `pixelBytes` come before the directory, which has the size. */
export function tiff(width: number, height: number, pixelBytes = 0): Uint8Array {
  const [long, one] = [u16le(4), u32le(1)];
  const entries = [u16le(256), long, one, u32le(width), u16le(257), long, one, u32le(height)];
  const start = [Buffer.from("II*\0"), u32le(8 + pixelBytes), Buffer.alloc(pixelBytes)];
  return Buffer.concat([...start, u16le(2), ...entries, u32le(0)]);
}

/** Rows from the top, as a negative height says. */
export function bmp(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(54);
  bytes.write("BM");
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(-height, 22);
  return bytes;
}

export function photoshop(width: number, height: number): Uint8Array {
  return Buffer.concat([Buffer.from("8BPS\0\x01"), Buffer.alloc(8), u32(height), u32(width)]);
}

export function jpeg2000(width: number, height: number): Uint8Array {
  return Buffer.concat([
    box("jP  ", Buffer.from("0d0a870a", "hex")),
    box("ftyp", Buffer.from("jp2 \0\0\0\0jp2 ")),
    box("jp2h", box("ihdr", u32(height), u32(width), Buffer.alloc(6))),
  ]);
}

/** Makes a file whose codestream is in a container, and whose sides are numbers of 30 bits. */
export function jpegXl(width: number, height: number): Uint8Array {
  const bits = [lengthBits(height), 0n, lengthBits(width)]; // no ratio between them
  let [value, at] = [0n, 1n]; // the first bit says that the image isn't small
  for (const [i, length] of [32n, 3n, 32n].entries()) {
    value |= bits[i]! << at;
    at += length;
  }
  const size = Buffer.alloc(16);
  size.writeBigUInt64LE(value & 0xffffffffffffffffn);
  size.writeBigUInt64LE(value >> 64n, 8);
  const codestream = Buffer.concat([Buffer.from("ff0a", "hex"), size]);
  return Buffer.concat([
    box("JXL ", Buffer.from("0d0a870a", "hex")),
    box("ftyp", Buffer.from("jxl \0\0\0\0jxl ")),
    box("jxlc", codestream),
  ]);
}

/** A length after the number of its bits. */
const lengthBits = (length: number) => 3n | (BigInt(length - 1) << 2n);

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(8 + body.length), Buffer.from(type), body]);
}

function chunk(type: string, data = Buffer.alloc(0)): Buffer {
  return Buffer.concat([u32(data.length), Buffer.from(type), data, u32(0)]);
}

function riff(type: string, data: Buffer): Buffer {
  const size = [Buffer.from("RIFF"), u32le(data.length + 12), Buffer.from("WEBP")];
  return Buffer.concat([...size, Buffer.from(type), u32le(data.length), data]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u16(value: number): Buffer {
  return u32(value).subarray(2);
}

function u16le(value: number): Buffer {
  return u32le(value).subarray(0, 2);
}
