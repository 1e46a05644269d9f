import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Encoder, FilterAPI, Frame } from "node-av";
import * as av from "node-av/constants";
import sharp from "sharp";
import { encodeHeic } from "./heif-file.ts";

/** What the EXIF of the files says. */
const EXIF = {
  IFD0: { Make: "Lumen", Model: "Lumen One", Orientation: "6" },
  IFD2: {
    DateTimeOriginal: "2024:06:01 12:30:00",
    OffsetTimeOriginal: "+02:00",
    LensModel: "35mm F2",
  },
  IFD3: {
    GPSLatitudeRef: "N",
    GPSLatitude: "60/1 23/1 3000/100",
    GPSLongitudeRef: "E",
    GPSLongitude: "5/1 19/1 1200/100",
    GPSAltitudeRef: "0",
    GPSAltitude: "1250/10",
  },
};

/**
 * Writes an image in each format to a folder. `shot.jpg`, `.png`, `.webp`, `.avif`, `.heic` and
 * `.dng` have EXIF, and but for AVIF, whose orientation EXIF doesn't say, are stored sideways.
 * `words.tif`, `.bmp`, `.jp2`, `.jxl` and `.psd` have none.
 */
export async function writeImageFormats(folder: string, image: Buffer): Promise<void> {
  const write = (name: string, bytes: Buffer) => writeFile(join(folder, name), bytes);
  const sideways = await sharp(image).rotate(-90).png().toBuffer();
  const shot = (stored: Buffer = sideways) => sharp(stored).withExif(EXIF);
  const jpeg = await shot().jpeg({ quality: 95 }).toBuffer();
  const exif = (await sharp(jpeg).metadata()).exif!.subarray(6); // without "Exif\0\0"
  await write("shot.jpg", jpeg);
  await write("shot.png", await shot().png().toBuffer());
  await write("shot.webp", await shot().webp({ quality: 95 }).toBuffer());
  await write("shot.avif", await shot(image).avif({ quality: 70, effort: 0 }).toBuffer());
  await write("shot.heic", await encodeHeic(sideways, { irot: 3, exif }));
  const turned = await sharp(sideways).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const turn = (await sharp(turned).metadata()).exif!.subarray(6);
  await write("exif.heic", await encodeHeic(sideways, { irot: null, exif: turn }));
  await write("shot.dng", encodeDng(await sharp(sideways).jpeg({ quality: 95 }).toBuffer()));
  await write("words.tif", await sharp(image).tiff({ compression: "lzw" }).toBuffer());
  const { data, info } = await sharp(image)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const frame = { data, width: info.width, height: info.height };
  await write("words.bmp", await encodeFrame(frame, av.FF_ENCODER_BMP, "bgr24"));
  await write("words.jp2", await encodeFrame(frame, av.FF_ENCODER_JPEG2000, "rgb24"));
  await write("words.jxl", await encodeFrame(frame, av.FF_ENCODER_LIBJXL, "rgb24"));
  await write("words.psd", encodePhotoshop(frame));
  const create = { width: 4000, height: 3999, channels: 3, background: "navy" } as const;
  const square = () => sharp({ create }).withMetadata({ orientation: 6 });
  await write("square.jpg", await square().jpeg().toBuffer());
  await write("square.png", await square().png().toBuffer());
  await write("square.webp", await square().webp({ effort: 0 }).toBuffer());
}

interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

/** Encodes RGB pixels with FFmpeg: the only packet is the file. */
async function encodeFrame(
  { data, width, height }: Pixels,
  codec: av.FFVideoEncoder,
  pixelFormat: string,
): Promise<Buffer> {
  using convert = FilterAPI.create(`format=${pixelFormat}`);
  using encoder = await Encoder.create(codec);
  async function* frames() {
    const format = av.AV_PIX_FMT_RGB24;
    const timeBase = { num: 1, den: 1 };
    yield Frame.fromVideoBuffer(data, { width, height, format, pts: 0n, timeBase });
    yield null;
  }
  const parts: Buffer[] = [];
  for await (const packet of encoder.packets(convert.frames(frames()))) {
    if (packet?.data) parts.push(Buffer.from(packet.data));
  }
  return Buffer.concat(parts);
}

/** Writes a Photoshop file of one layer, not compressed: planes of red, green and blue. */
function encodePhotoshop({ data, width, height }: Pixels): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS");
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(3, 12); // channels
  header.writeUInt32BE(height, 14);
  header.writeUInt32BE(width, 18);
  header.writeUInt16BE(8, 22); // bits
  header.writeUInt16BE(3, 24); // RGB
  const sections = Buffer.alloc(12 + 2); // without colours, resources, layers or compression
  const planes = [0, 1, 2].map((channel) =>
    Buffer.from(data.filter((_, at) => at % 3 === channel)),
  );
  return Buffer.concat([header, sections, ...planes]);
}

/** Writes a raw with its preview in a directory of its own, and pixels that nobody decodes. */
function encodeDng(preview: Buffer): Buffer {
  const text = Buffer.from("Lumen\0\0\0Lumen Raw\0\0\0");
  const taken = Buffer.from("2024:06:01 12:30:00\0");
  const [first, exif, second] = [64, 170, 190];
  const previewAt = 256;
  const file = Buffer.alloc(previewAt);
  file.write("II*\0", "latin1");
  file.writeUInt32LE(first, 4);
  text.copy(file, 8);
  taken.copy(file, 32);
  writeDirectory(file, first, [
    [0x010f, 2, 6, 8],
    [0x0110, 2, 10, 16],
    [0x0112, 3, 1, 6],
    [0x014a, 4, 1, second],
    [0x8769, 4, 1, exif],
    [0xc612, 1, 4, 0x00000401],
  ]);
  writeDirectory(file, exif, [[0x9003, 2, 20, 32]]);
  writeDirectory(file, second, [
    [0x0103, 3, 1, 7],
    [0x0111, 4, 1, previewAt],
    [0x0117, 4, 1, preview.length],
  ]);
  return Buffer.concat([file, preview]);
}

function writeDirectory(
  file: Buffer,
  at: number,
  entries: [tag: number, type: number, count: number, value: number][],
): void {
  file.writeUInt16LE(entries.length, at);
  for (const [i, [tag, type, count, value]] of entries.entries()) {
    const entry = at + 2 + 12 * i;
    file.writeUInt16LE(tag, entry);
    file.writeUInt16LE(type, entry + 2);
    file.writeUInt32LE(count, entry + 4);
    file.writeUInt32LE(value, entry + 8);
  }
}
