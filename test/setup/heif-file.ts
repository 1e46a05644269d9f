import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FF_ENCODER_LIBX265 } from "node-av/constants";
import sharp from "sharp";
import { encodeVideo } from "../../tools/sample/video.ts";

interface HeifOptions {
  /** Quarter turns counterclockwise that a reader must make. Default 0. */
  irot?: number;
  /** An EXIF block, from its byte order on. */
  exif?: Buffer;
}

/**
 * Makes a HEIC file as phones write it: a grid of two tiles side by side, and a smaller image
 * beside it that isn't the primary one.
 */
export async function encodeHeic(
  image: Buffer,
  { irot = 0, exif }: HeifOptions = {},
): Promise<Buffer> {
  const { width, height } = await sharp(image).metadata();
  const half = width / 2;
  const crop = (left: number) => sharp(image).extract({ left, top: 0, width: half, height });
  const other = sharp({ create: { width: 64, height: 64, channels: 3, background: "red" } });
  const frames = await Promise.all([
    encodeIntra(await crop(0).png().toBuffer(), half, height),
    encodeIntra(await crop(half).png().toBuffer(), half, height),
    encodeIntra(await other.png().toBuffer(), 64, 64),
  ]);
  const grid = Buffer.concat([Buffer.from([0, 0, 0, 1]), u16(width), u16(height)]);
  const items: Item[] = [
    { id: 1, type: "hvc1", data: frames[0].data, properties: [1, 3] },
    { id: 2, type: "hvc1", data: frames[1].data, properties: [1, 3] },
    { id: 3, type: "hvc1", data: frames[2].data, properties: [2, 4] },
    { id: 4, type: "grid", data: grid, properties: [5, 6] },
  ];
  if (exif) items.push({ id: 5, type: "Exif", data: Buffer.concat([u32(0), exif]) });
  const properties = [
    frames[0].config,
    frames[2].config,
    ispe(half, height),
    ispe(64, 64),
    ispe(width, height),
    box("irot", Buffer.from([irot])),
  ];
  return writeFile(items, properties);
}

interface Item {
  id: number;
  type: string;
  data: Buffer;
  /** Numbers of its properties, from 1. */
  properties?: number[];
}

/** Writes items with the grid, item 4, as the primary one. */
function writeFile(items: Item[], properties: Buffer[]): Buffer {
  const ftyp = box("ftyp", Buffer.from("heic\0\0\0\0mif1heic"));
  const meta = (dataStart: number) =>
    fullBox(
      "meta",
      0,
      fullBox("hdlr", 0, Buffer.from("\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0")),
      fullBox("pitm", 0, u16(4)),
      fullBox("iinf", 0, u16(items.length), ...items.map(infe)),
      fullBox("iref", 0, box("dimg", u16(4), u16(2), u16(1), u16(2)), ...describedBy(items)),
      box("iprp", box("ipco", ...properties), ipma(items)),
      iloc(items, dataStart),
    );
  const dataStart = ftyp.length + meta(0).length + 8;
  return Buffer.concat([ftyp, meta(dataStart), box("mdat", ...items.map(({ data }) => data))]);
}

const infe = ({ id, type }: Item) => fullBox("infe", 2, u16(id), u16(0), Buffer.from(`${type}\0`));

const describedBy = (items: Item[]) =>
  items.filter(({ type }) => type === "Exif").map(({ id }) => box("cdsc", u16(id), u16(1), u16(4)));

function ipma(items: Item[]): Buffer {
  const associated = items.filter(({ properties }) => properties);
  const entries = associated.map(({ id, properties = [] }) =>
    Buffer.concat([u16(id), Buffer.from([properties.length, ...properties.map((n) => 0x80 | n)])]),
  );
  return fullBox("ipma", 0, u32(associated.length), ...entries);
}

function iloc(items: Item[], dataStart: number): Buffer {
  let at = dataStart;
  const entries = items.map(({ id, data }) => {
    at += data.length;
    return Buffer.concat([u16(id), u16(0), u16(1), u32(at - data.length), u32(data.length)]);
  });
  return fullBox("iloc", 0, u16(0x4400), u16(items.length), ...entries);
}

const ispe = (width: number, height: number) => fullBox("ispe", 0, u32(width), u32(height));

/** Encodes one HEVC frame. Returns its configuration, a box `hvcC`, and its bytes. */
async function encodeIntra(image: Buffer, width: number, height: number) {
  const folder = await mkdtemp(join(tmpdir(), "sightline-heif-"));
  try {
    const file = join(folder, "frame.mp4");
    await encodeVideo(file, [{ image, seconds: 1 }], {
      width,
      height,
      fps: 1,
      encoder: FF_ENCODER_LIBX265,
      encoderOptions: { preset: "ultrafast", "x265-params": "log-level=none:info=0" },
    });
    const bytes = await readFile(file);
    return { config: cutBox(bytes, "hvcC"), data: cutBox(bytes, "mdat").subarray(8) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function cutBox(bytes: Buffer, type: string): Buffer {
  const at = bytes.indexOf(type) - 4;
  return bytes.subarray(at, at + bytes.readUInt32BE(at));
}

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(8 + body.length), Buffer.from(type), body]);
}

function fullBox(type: string, version: number, ...content: Buffer[]): Buffer {
  return box(type, Buffer.from([version, 0, 0, 0]), ...content);
}

function u16(value: number): Buffer {
  return u32(value).subarray(2);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
