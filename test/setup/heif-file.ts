import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FF_ENCODER_LIBSVTAV1, FF_ENCODER_LIBX265 } from "node-av/constants";
import sharp from "sharp";
import { encodeVideo } from "../../tools/sample/video.ts";

interface HeifOptions {
  /** Whether the primary image is a grid of tiles, as phones write it. Default true. */
  isTiled?: boolean;
  /** Quarter turns counterclockwise that a reader must make. Default 0; null: it isn't said. */
  irot?: number | null;
  /** The part that a reader must show: its size, and where its centre is from the image's. */
  clap?: { width: number; height: number; x: number; y: number };
  /** Whether a reader must exchange left and right, after all turns. */
  isMirrored?: boolean;
  /** An EXIF block, from its byte order on. */
  exif?: Buffer;
}

/**
 * Makes a HEIC file: one image, or two tiles side by side, and a smaller image beside it that isn't
 * the primary one.
 */
export async function encodeHeic(
  image: Buffer,
  { isTiled = true, irot = 0, clap, isMirrored = false, exif }: HeifOptions = {},
): Promise<Buffer> {
  const { width, height } = await sharp(image).metadata();
  const half = isTiled ? width / 2 : width;
  const crop = (left: number) => sharp(image).extract({ left, top: 0, width: half, height });
  const other = sharp({ create: { width: 64, height: 64, channels: 3, background: "red" } });
  const frames = await Promise.all([
    encodeIntra(await crop(0).png().toBuffer(), half, height),
    encodeIntra(
      await crop(width - half)
        .png()
        .toBuffer(),
      half,
      height,
    ),
    encodeIntra(await other.png().toBuffer(), 64, 64),
  ]);
  const grid = Buffer.concat([Buffer.from([0, 0, 0, 1]), u16(width), u16(height)]);
  const transforms = [
    clap ? clapOf(clap) : box("free"),
    irot === null ? box("free") : box("irot", Buffer.from([irot])),
    isMirrored ? box("imir", Buffer.from([1])) : box("free"),
  ];
  const whole = { id: 4, type: "hvc1", data: frames[0].data, properties: [1, 5, 6, 7, 8] };
  const tiles: Item[] = [
    { id: 1, type: "hvc1", data: frames[0].data, properties: [1, 3] },
    { id: 2, type: "hvc1", data: frames[1].data, properties: [1, 3] },
    { id: 4, type: "grid", data: grid, properties: [5, 6, 7, 8] },
  ];
  const items: Item[] = [
    ...(isTiled ? tiles : [whole]),
    { id: 3, type: "hvc1", data: frames[2].data, properties: [2, 4] },
  ];
  if (exif) items.push({ id: 5, type: "Exif", data: Buffer.concat([u32(0), exif]) });
  const properties = [
    frames[0].config,
    frames[2].config,
    ispe(half, height),
    ispe(64, 64),
    ispe(width, height),
    ...transforms,
  ];
  return writeFile(items, properties);
}

/** Makes an AVIF of limited range that says so, and how to show it: with a clean aperture. */
export async function encodeAvif(image: Buffer, clap?: HeifOptions["clap"]): Promise<Buffer> {
  const { width, height } = await sharp(image).metadata();
  const avif = await encodeStill(image, "avif", {
    width,
    height,
    fps: 1,
    encoder: FF_ENCODER_LIBSVTAV1,
    encoderOptions: { preset: "12" },
  });
  const at = (type: string) => avif.indexOf(type) - 4;
  const sized = (start: number) => avif.subarray(start, start + avif.readUInt32BE(start));
  const colours = Buffer.from("nclx\0\x01\0\x0d\0\x06\0", "latin1");
  const properties = [
    sized(at("av1C")),
    ispe(width, height),
    box("colr", colours),
    ...(clap ? [clapOf(clap)] : []),
  ];
  const data = sized(at("mdat")).subarray(8);
  const item = { id: 4, type: "av01", data, properties: properties.map((_, i) => i + 1) };
  return writeFile([item], properties, "avif\0\0\0\0avifmif1");
}

interface Item {
  id: number;
  type: string;
  data: Buffer;
  /** Numbers of its properties, from 1. */
  properties?: number[];
}

/** Writes items with item 4 as the primary one. */
function writeFile(items: Item[], properties: Buffer[], brands = "heic\0\0\0\0mif1heic"): Buffer {
  const ftyp = box("ftyp", Buffer.from(brands));
  const meta = (dataStart: number) =>
    fullBox(
      "meta",
      0,
      fullBox("hdlr", 0, Buffer.from("\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0")),
      fullBox("pitm", 0, u16(4)),
      fullBox("iinf", 0, u16(items.length), ...items.map(infe)),
      fullBox("iref", 0, ...madeOfTiles(items), ...describedBy(items)),
      box("iprp", box("ipco", ...properties), ipma(items)),
      iloc(items, dataStart),
    );
  const dataStart = ftyp.length + meta(0).length + 8;
  return Buffer.concat([ftyp, meta(dataStart), box("mdat", ...items.map(({ data }) => data))]);
}

const infe = ({ id, type }: Item) => fullBox("infe", 2, u16(id), u16(0), Buffer.from(`${type}\0`));

const madeOfTiles = (items: Item[]) =>
  items
    .filter(({ type }) => type === "grid")
    .map(({ id }) => box("dimg", u16(id), u16(2), u16(1), u16(2)));

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

function clapOf({ width, height, x, y }: NonNullable<HeifOptions["clap"]>): Buffer {
  const halves = [width, height, x, y].flatMap((value) => [u32((2 * value) >>> 0), u32(2)]);
  return box("clap", ...halves);
}

/** Encodes one HEVC frame. Returns its configuration, a box `hvcC`, and its bytes. */
async function encodeIntra(image: Buffer, width: number, height: number) {
  const stream = await encodeStill(image, "hevc", {
    width,
    height,
    fps: 1,
    encoder: FF_ENCODER_LIBX265,
    encoderOptions: { preset: "ultrafast", "x265-params": "log-level=none:info=0" },
  });
  const units = splitUnits(stream);
  const pictures = units.filter((unit) => typeOf(unit) < VPS);
  const data = pictures.map((unit) => Buffer.concat([u32(unit.length), unit]));
  return { config: configOf(units), data: Buffer.concat(data) };
}

/** Encodes a video of one frame into a file of an extension. */
async function encodeStill(
  image: Buffer,
  extension: string,
  options: Parameters<typeof encodeVideo>[2],
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "sightline-heif-"));
  try {
    const file = join(folder, `frame.${extension}`);
    await encodeVideo(file, [{ image, seconds: 1 }], options);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Types of NAL units (ITU-T H.265, table 7-1). */
const [VPS, SPS, PPS] = [32, 33, 34];
const typeOf = (unit: Buffer) => (unit[0]! >> 1) & 63;

/** Splits a stream at its start codes (ITU-T H.265, annex B). */
function splitUnits(stream: Buffer): Buffer[] {
  const units: Buffer[] = [];
  const code = Buffer.from([0, 0, 1]);
  for (let at = stream.indexOf(code); at >= 0;) {
    const next = stream.indexOf(code, at + 3);
    const unit = stream.subarray(at + 3, next < 0 ? undefined : next);
    const end = unit.findLastIndex((byte) => byte !== 0) + 1;
    units.push(unit.subarray(0, end));
    at = next;
  }
  return units;
}

/**
 * Makes the configuration of a stream of 8 bits in 4:2:0 (ISO/IEC 14496-15, 8.3.2.1). FFmpeg's
 * muxer refuses such streams now and then.
 */
function configOf(units: Buffer[]): Buffer {
  const sps = units.find((unit) => typeOf(unit) === SPS)!;
  const plain = Buffer.from(sps.toString("latin1").replaceAll("\0\0\x03", "\0\0"), "latin1");
  const profile = plain.subarray(3, 15);
  const rest = Buffer.from([0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 3]);
  const arrays = [VPS, SPS, PPS].map((type) => {
    const unit = units.find((one) => typeOf(one) === type)!;
    return Buffer.concat([Buffer.from([0x80 | type]), u16(1), u16(unit.length), unit]);
  });
  return box("hvcC", Buffer.from([1]), profile, rest, ...arrays);
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
