import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import { Encoder, FilterAPI, Muxer } from "node-av/api";
import {
  AVALPHA_MODE_PREMULTIPLIED,
  AV_PIX_FMT_RGB24,
  AVCOL_RANGE_JPEG,
  FF_ENCODER_JPEG2000,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBJXL,
} from "node-av/constants";
import { Frame } from "node-av/lib";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { convertImage } from "../../local/engine/convert-image.ts";
import { expectNear } from "./expect-near.ts";
import { makeVideo } from "./video-file.ts";

const RED = { r: 220, g: 30, b: 30 };
const plain = (size: number) =>
  sharp({ create: { width: size, height: size, channels: 3, background: RED } });

async function convert(image: Buffer) {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  try {
    await writeFile(join(folder, "image"), image);
    return await convertImage(join(folder, "image"), 960);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function centreOf(image: Buffer): Promise<number[]> {
  const { bytes } = await convert(image);
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = 3 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2));
  return [...data.subarray(at, at + 3)];
}

const HDR = "format=gbrp,zscale=tin=iec61966-2-1:pin=bt709:npl=203";

function toFrame(pixels: Buffer): Frame {
  return Frame.fromVideoBuffer(pixels, {
    width: 64,
    height: 64,
    format: AV_PIX_FMT_RGB24,
    timeBase: { num: 1, den: 1 },
  });
}

const plainFrame = async () => toFrame(await plain(64).raw().toBuffer());

/** Makes a JPEG XL of one colour, its pixels converted by FFmpeg's filters. */
async function makeJpegXl(filters: string, { isPremultiplied = false } = {}): Promise<Buffer> {
  using filter = FilterAPI.create(filters);
  using encoder = await Encoder.create(FF_ENCODER_LIBJXL);
  const frame = filter.processAllSync(await plainFrame())[0]!;
  if (isPremultiplied) frame.alphaMode = AVALPHA_MODE_PREMULTIPLIED;
  const packets = await encoder.encodeAll(frame);
  for await (const packet of encoder.flushPackets()) packets.push(packet);
  return packets.find((packet) => packet.data)!.data!;
}

/** Makes an AVIF of one colour, which says nothing of its colours but their range. */
async function makeAvif(filters: string): Promise<Buffer> {
  const path = join(tmpdir(), `${randomUUID()}.avif`);
  {
    using filter = FilterAPI.create(filters);
    using encoder = await Encoder.create(FF_ENCODER_LIBSVTAV1, {
      configure: (context) => {
        context.colorRange = AVCOL_RANGE_JPEG;
      },
    });
    await using muxer = await Muxer.open(path, { format: "avif" });
    const index = muxer.addStream(encoder);
    const frame = filter.processAllSync(await plainFrame())[0]!;
    const packets = await encoder.encodeAll(frame);
    for await (const packet of encoder.flushPackets()) packets.push(packet);
    for (const packet of packets) if (packet.data) await muxer.writePacket(packet, index);
  }
  const bytes = await readFile(path);
  await rm(path);
  return bytes;
}

/** Makes a sequence of one colour, with a track of its opacity, which is marked as the default. */
async function makeSequence(): Promise<Buffer> {
  const output = new Output({ format: new Mp4OutputFormat(), target: new BufferTarget() });
  const tracks = ["0xdc1e1e", "white"].map((colour) => {
    const source = new EncodedVideoPacketSource("avc");
    output.addVideoTrack(source);
    return { source, colour };
  });
  await output.start();
  for (const { source, colour } of tracks) {
    const filters = `drawbox=c=${colour}:t=fill`;
    const video = await makeVideo({ times: [0, 40], filters });
    using input = new Input({ source: new BufferSource(video), formats: [MP4] });
    const track = (await input.getPrimaryVideoTrack())!;
    const decoderConfig = (await track.getDecoderConfig())!;
    for await (const packet of new EncodedPacketSink(track).packets()) {
      await source.add(packet, { decoderConfig });
    }
    source.close();
  }
  await output.finalize();
  const bytes = Buffer.from(output.target.buffer!);
  bytes.write("avis", 8, "latin1");
  const headers = [bytes.indexOf("tkhd"), bytes.lastIndexOf("tkhd")];
  for (const [enabled, at] of headers.entries()) bytes[at + 7] = 2 + enabled;
  return bytes;
}

/** Returns the header of an 8 × 8 TIFF of one channel, and some bytes. */
function makeTiff({ bits, compression }: { bits: number; compression: number }): Buffer {
  const entries = [
    [256, 4, 8],
    [257, 4, 8],
    [258, 3, bits],
    [259, 3, compression],
    [262, 3, 1],
    [273, 4, 256],
    [277, 3, 1],
    [278, 4, 8],
    [279, 4, 256],
    [339, 3, 1],
  ] as const;
  const tiff = Buffer.alloc(512);
  tiff.write("II*\0\b\0\0\0", "latin1");
  tiff.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 10 + index * 12;
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(1, at + 4);
    tiff.writeUInt32LE(value, at + 8);
  }
  return tiff;
}

function photoshop({ version, bits, mode }: Record<"version" | "bits" | "mode", number>): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS");
  for (const [at, value] of [
    [4, version],
    [12, 3],
    [16, 8],
    [20, 8],
    [22, bits],
    [24, mode],
  ]) {
    header.writeUInt16BE(value!, at);
  }
  return header;
}

/** Returns the header of an 8 × 8 bitmap of a compression. */
function bitmapOf(compression: number): Buffer {
  const header = Buffer.alloc(64);
  header.write("BM");
  for (const [at, value] of [
    [2, 64],
    [10, 54],
    [14, 40],
    [18, 8],
    [22, 8],
    [30, compression],
  ]) {
    header.writeUInt32LE(value!, at);
  }
  header.writeUInt32LE(0x200001, 26);
  return header;
}

function box(type: string, ...content: Buffer[]): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + Buffer.concat(content).length);
  return Buffer.concat([size, Buffer.from(type, "latin1"), ...content]);
}

/** Returns the directory of a TIFF for a page that is marked as reduced, with another after it. */
function reducedDirectory(tiff: Buffer, next: number): Buffer {
  const directory = tiff.readUInt32LE(4);
  const count = tiff.readUInt16LE(directory);
  const entries = tiff.subarray(directory + 2, directory + 2 + 12 * count);
  const subfileType = Buffer.from("fe0004000100000001000000", "hex");
  const isThere = entries.readUInt16LE(0) === 254;
  const kept = isThere ? entries.subarray(12) : entries;
  const [head, end] = [Buffer.alloc(2), Buffer.alloc(4)];
  head.writeUInt16LE(kept.length / 12 + 1);
  end.writeUInt32LE(next);
  return Buffer.concat([head, subfileType, kept, end]);
}

/** Adds to the offsets of a directory, whose page was moved. */
function moveDirectory(tiff: Buffer, directory: number, by: number): void {
  const bytes: Readonly<Record<number, number>> = { 3: 2, 4: 4, 5: 8 };
  for (let entry = 0; entry < tiff.readUInt16LE(directory); entry++) {
    const at = directory + 2 + 12 * entry;
    const [tag, type, count] = [0, 2, 4].map((field) => tiff.readUInt16LE(at + field));
    const isOffset = tag === 273 || (bytes[type!] ?? 1) * count! > 4;
    if (isOffset) tiff.writeUInt32LE(tiff.readUInt32LE(at + 8) + by, at + 8);
  }
}

describe("a converted image", () => {
  it.each([
    ["PQ", "smpte2084"],
    ["HLG", "arib-std-b67"],
  ])("of a high dynamic range has the colours of a screen: %s", async (_, transfer) => {
    const output = `t=${transfer}:p=bt2020:m=gbr,format=rgb48le`;
    expectNear(await centreOf(await makeJpegXl(`${HDR}:${output}`)), [220, 30, 30], 40);
  });

  it("of wide colours has those of sRGB", async () => {
    const wide = "format=gbrp,zscale=tin=iec61966-2-1:pin=bt709:t=iec61966-2-1:p=smpte432:m=gbr";
    expectNear(await centreOf(await makeJpegXl(`${wide},format=rgb24`)), [220, 30, 30], 4);
  });

  it("whose colours are multiplied by its opacity has them whole", async () => {
    const filters = "format=rgba,colorchannelmixer=aa=.5,format=rgba";
    const half = await makeJpegXl(filters, { isPremultiplied: true });
    expectNear(await centreOf(half), [255, 157, 157], 4);
    expectNear(await centreOf(await makeJpegXl(filters)), [238, 143, 143], 4);
  });

  it("that is an AVIF of a full range whose matrix is open has its own colours", async () => {
    const avif = await makeAvif("scale=out_range=full,format=yuv420p");
    expect(avif.toString("hex")).toContain(
      `${Buffer.from("colrnclx").toString("hex")}00020002000280`,
    );
    expectNear(await centreOf(avif), [220, 30, 30], 6);
  });

  it.each([
    ["PQ", 16],
    ["HLG", 18],
  ])(
    "of a high dynamic range is as white as a screen where it is transparent: %s",
    async (_, transfer) => {
      const clear = { width: 64, height: 64, channels: 4, background: "#00000000" } as const;
      const avif = await sharp({ create: clear }).withIccProfile("srgb").avif().toBuffer();
      const colours = [Buffer.from("nclx"), Buffer.from([0, 9, 0, transfer, 0, 9, 128])];
      Buffer.concat(colours).copy(avif, avif.indexOf("colr") + 4);
      expectNear(await centreOf(avif), [216, 216, 216], 8);
    },
  );

  it("that is animated is its colours, not its opacity", async () => {
    expectNear(await centreOf(await makeSequence()), [220, 30, 30], 6);
  });

  it.each<[string, Buffer, string]>([
    ["a TIFF of 32-bit integers", makeTiff({ bits: 32, compression: 1 }), "32 bits"],
    ["a TIFF in Zstandard", makeTiff({ bits: 8, compression: 50_000 }), "Zstandard"],
    ["a large Photoshop document", photoshop({ version: 2, bits: 8, mode: 3 }), "(PSB)"],
    ["a Photoshop file in Lab", photoshop({ version: 1, bits: 8, mode: 9 }), "in Lab"],
    ["a Photoshop file of 32 bits", photoshop({ version: 1, bits: 32, mode: 3 }), "32 bits"],
    ["a bitmap with a PNG in it", bitmapOf(5), "contain a PNG"],
  ])("is refused by its name if it is %s", async (_, image, name) => {
    await expect(convert(image)).rejects.toMatchObject({
      code: "unsupported_image",
      message: expect.stringContaining(name),
    });
  });

  it("that is a TIFF whose first page is a reduced image is the next page", async () => {
    const [small, whole] = await Promise.all([8, 64].map((size) => plain(size).tiff().toBuffer()));
    const moved = Buffer.concat([small!, whole!]);
    const second = small!.length + whole!.readUInt32LE(4);
    moveDirectory(moved, second, small!.length);
    const tiff = Buffer.concat([moved, reducedDirectory(small!, second)]);
    tiff.writeUInt32LE(moved.length, 4);
    expect(await convert(tiff)).toMatchObject({ width: 64, height: 64 });
  });

  it("that is a JPEG 2000 with an ICC profile is shown by it", async () => {
    const p3 = await plain(64).withIccProfile("p3").png().toBuffer();
    const { icc } = await sharp(p3).metadata();
    using encoder = await Encoder.create(FF_ENCODER_JPEG2000, { options: { format: "j2k" } });
    const packets = await encoder.encodeAll(await plainFrame());
    for await (const packet of encoder.flushPackets()) packets.push(packet);
    const codestream = packets.find((packet) => packet.data)!.data!;
    const size = Buffer.from("0000004000000040000307070000", "hex");
    const header = [box("ihdr", size), box("colr", Buffer.from([2, 0, 0]), icc!)];
    const magic = box("jP  ", Buffer.from("0d0a870a", "hex"));
    const brand = box("ftyp", Buffer.from("jp2 \0\0\0\0jp2 "));
    const file = [magic, brand, box("jp2h", ...header), box("jp2c", codestream)];
    expectNear(await centreOf(Buffer.concat(file)), [241, 0, 0], 4);
  });
});
