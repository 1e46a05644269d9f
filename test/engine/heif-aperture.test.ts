import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { convertImage } from "../../local/engine/convert-image.ts";
import { decodeHeif, readHeifSize } from "../../local/engine/heif.ts";
import { encodeAvif, encodeHeic } from "../setup/heif-file.ts";
import { expectNear } from "./expect-near.ts";

const COLOURS = { red: [220, 30, 30], green: [30, 160, 60], blue: [30, 60, 200] } as const;
type Colour = keyof typeof COLOURS | "white";

const block = (colour: keyof typeof COLOURS, left: number, top: number) => {
  const [r, g, b] = COLOURS[colour];
  const create = { width: 160, height: 128, channels: 3, background: { r, g, b } } as const;
  return { input: { create }, left, top };
};

/** Draws red, green and blue blocks of 160 × 128 at the top left, top right and bottom left. */
const photo = () =>
  sharp({ create: { width: 640, height: 512, channels: 3, background: "white" } })
    .composite([block("red", 0, 0), block("green", 480, 0), block("blue", 0, 384)])
    .png()
    .toBuffer();

/** Reads the names of the colours in the four quarters of an image, row by row. */
async function quartersOf(png: Buffer): Promise<Colour[]> {
  const raw = sharp(png).removeAlpha().resize(4, 4, { kernel: "nearest", fit: "fill" });
  const data = await raw.raw().toBuffer();
  return [0, 3, 12, 15].map((at) => {
    const pixel = [...data.subarray(3 * at, 3 * at + 3)];
    const names = Object.keys(COLOURS) as (keyof typeof COLOURS)[];
    const near = names.find((name) => COLOURS[name].every((v, i) => Math.abs(v - pixel[i]!) < 30));
    return near ?? "white";
  });
}

describe("the clean aperture of a HEIC", () => {
  it.each<[string, Parameters<typeof encodeHeic>[1], [number, number], Colour[]]>([
    ["the left half", clap(320, 512, -160, 0), [320, 512], ["red", "white", "blue", "white"]],
    ["the top half", clap(640, 256, 0, -128), [640, 256], ["red", "green", "white", "white"]],
    ["a corner", clap(160, 128, 240, -192), [160, 128], ["green", "green", "green", "green"]],
    [
      "the left half, turned a quarter",
      { ...clap(320, 512, -160, 0), irot: 1 },
      [512, 320],
      ["white", "white", "red", "blue"],
    ],
    [
      "the top half, turned a quarter and mirrored",
      { ...clap(640, 256, 0, -128), irot: 1, isMirrored: true },
      [256, 640],
      ["white", "green", "white", "red"],
    ],
    ["more than the image", clap(900, 900, 0, 0), [640, 512], ["red", "green", "blue", "white"]],
  ])("shows %s, of tiles and of one image", async (_name, options, [width, height], quarters) => {
    for (const isTiled of [true, false]) {
      const bytes = await encodeHeic(await photo(), { ...options, isTiled });
      expect(readHeifSize(Buffer.from(bytes))).toEqual({ width, height });
      const png = await decodeHeif(bytes);
      expect(await sharp(png).metadata()).toMatchObject({ width, height });
      expect(await quartersOf(png)).toEqual(quarters);
    }
  });
});

function clap(width: number, height: number, x: number, y: number) {
  return { clap: { width, height, x, y } };
}

describe("the clean aperture of an AVIF", () => {
  it("leaves the colours of the image as they are", async () => {
    const folder = await mkdtemp(join(tmpdir(), "aperture-"));
    try {
      const path = join(folder, "image");
      await writeFile(path, await encodeAvif(await photo(), clap(161, 127, -238.5, -191.5).clap));
      const { bytes, width, height } = await convertImage(path, 960);
      expect({ width, height }).toEqual({ width: 161, height: 127 });
      const { channels } = await sharp(bytes).stats();
      const means = channels.map(({ mean }) => mean);
      expectNear(means, [...COLOURS.red], 6);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
