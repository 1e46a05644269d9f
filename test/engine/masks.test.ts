import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openImage } from "../../local/engine/image.ts";
import { loadMasks } from "../../local/engine/masks.ts";
import { type Engine, readError, startEngine } from "./engine-process.ts";

const SIZE = { width: 480, height: 360 };
const DISC = { x: 190, y: 200, radius: 90 };

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** Draws a disc on a background, each filled with a colour or one of two textures. */
function draw(disc: string, background: string): Promise<Buffer> {
  const { width, height } = SIZE;
  return sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <defs>
        <pattern id="checks" width="12" height="12" patternUnits="userSpaceOnUse">
          <path fill="#c23b22" d="M0 0h12v12H0z"/><path fill="#f2a154" d="M0 0h6v6H0zM6 6h6v6H6z"/>
        </pattern>
        <pattern id="stripes" width="9" height="9" patternUnits="userSpaceOnUse">
          <path fill="#24503a" d="M0 0h9v9H0z"/><path fill="#5fa37c" d="M0 0h4v9H0z"/>
        </pattern>
      </defs>
      <path fill="${background}" d="M0 0h${width}v${height}H0z"/>
      <circle cx="${DISC.x}" cy="${DISC.y}" r="${DISC.radius}" fill="${disc}"/>
    </svg>`),
  )
    .png()
    .toBuffer();
}

const image = await draw("url(#checks)", "url(#stripes)");
const groundTruth = await readGrey(await draw("#fff", "#000"));
const box = `x=${90 / 480}&y=${95 / 360}&width=${200 / 480}&height=${210 / 360}`;

function readGrey(png: Uint8Array): Promise<Buffer> {
  return sharp(png).toColourspace("b-w").raw().toBuffer();
}

async function postImage(path: string, bytes: Uint8Array = image): Promise<Buffer> {
  const response = await engine.post(path, new Uint8Array(bytes));
  if (response.status !== 200) throw new Error(await response.text());
  expect(response.headers.get("content-type")).toBe("image/png");
  return Buffer.from(await response.arrayBuffer());
}

/** Returns the intersection over union with the disc. */
function intersectionOverUnion(mask: Buffer): number {
  let [intersection, union] = [0, 0];
  for (const [at, value] of mask.entries()) {
    const [a, b] = [value > 127, groundTruth[at]! > 127];
    intersection += Number(a && b);
    union += Number(a || b);
  }
  return intersection / union;
}

const blank = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

describe("a mask", () => {
  it.each([
    ["within a box", box],
    ["without a box", ""],
    ["within a box of the whole image", "x=0&y=0&width=1&height=1"],
    ["within a box that extends beyond the image", "x=0.1&y=0.2&width=0.6&height=0.9"],
  ])("covers the foreground %s", async (_, query) => {
    const png = await postImage(`/mask?${query}`);
    const meta = await sharp(png).metadata();
    expect(meta).toMatchObject({ format: "png", channels: 1, depth: "uchar", ...SIZE });
    expect(intersectionOverUnion(await readGrey(png))).toBeGreaterThan(0.9);
  });

  it("is deterministic and has the requested size", async () => {
    expect(await postImage(`/mask?${box}`)).toEqual(await postImage(`/mask?${box}`));
    const small = await sharp(await postImage("/mask?max=120")).metadata();
    expect(small).toMatchObject({ width: 120, height: 90 });
    const unlimited = await sharp(await postImage("/mask?max=9000")).metadata();
    expect(unlimited).toMatchObject(SIZE);
  });

  it("is upright", async () => {
    const rotated = await sharp(image).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const mask = await sharp(await postImage("/mask", rotated)).metadata();
    expect(mask).toMatchObject({ width: SIZE.height, height: SIZE.width });
  });

  it("makes the background transparent in a cut-out", async () => {
    const png = await postImage(`/cutout?${box}`);
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ ...SIZE, channels: 4 });
    const alphas = Buffer.from(data.filter((_, at) => at % 4 === 3));
    expect(intersectionOverUnion(alphas)).toBeGreaterThan(0.9);
    const centre = (DISC.y * SIZE.width + DISC.x) * 4;
    const [red = 0, green = 0, , alpha] = data.subarray(centre, centre + 4);
    expect({ isRed: red > green, alpha }).toEqual({ isRed: true, alpha: 255 });
  });

  it("makes the background white on request", async () => {
    const { data, info } = await sharp(await postImage(`/cutout?background=white&${box}`))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect({ channels: info.channels, corner: [...data.subarray(0, 3)] }).toEqual({
      channels: 3,
      corner: [255, 255, 255],
    });
  });

  it("preserves transparency", async () => {
    const clear = await sharp(image).removeAlpha().ensureAlpha(0).png().toBuffer();
    const { data } = await sharp(await postImage("/cutout", clear))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(data.every((value, at) => at % 4 < 3 || value === 0)).toBe(true);
  });
});

describe("a mask of an unusual image", () => {
  it.each<[string, () => Promise<Buffer>, string]>([
    ["one pixel", () => blank(1, 1, "red"), ""],
    ["one pixel with a box", () => blank(1, 1, "red"), "x=0&y=0&width=1&height=1"],
    ["a line", () => blank(3_000, 1, "red"), ""],
    ["one colour", () => blank(300, 200, "red"), ""],
    ["one colour in all of it", () => blank(300, 200, "red"), "x=0&y=0&width=1&height=1"],
    ["almost nothing", () => draw("#fff", "#000"), "x=0.999&y=0.999&width=0.001&height=0.001"],
  ])("has the size of the image: %s", async (_, make, query) => {
    const bytes = await make();
    const { width, height } = await sharp(bytes).metadata();
    const mask = await sharp(await postImage(`/mask?${query}`, bytes)).metadata();
    expect(mask).toMatchObject({ width, height, channels: 1 });
  });
});

describe("a mask request", () => {
  it.each([
    ["x=0.5", 400],
    ["x=0&y=0&width=0&height=1", 400],
    ["x=1&y=0&width=1&height=1", 400],
    ["x=-1&y=0&width=1&height=1", 400],
    ["x=0&y=0&width=1.5&height=1", 400],
    ["x=a&y=0&width=1&height=1", 400],
    ["max=0", 400],
  ])("with the query %s is rejected", async (query, status) => {
    const response = await engine.post(`/mask?${query}`, new Uint8Array(image));
    expect(await readError(response)).toEqual([status, "bad_request"]);
  });

  it("with a file that is no image is rejected", async () => {
    for (const path of ["/mask", "/cutout"]) {
      const response = await engine.post(path, "hello");
      expect(await readError(response)).toEqual([422, "undecodable_image"]);
    }
  });
});

describe("mask extraction", () => {
  it("works after an aborted call", async () => {
    const masks = await loadMasks();
    const opened = await openImage(image);
    const caller = new AbortController();
    const broken = masks.cut(opened, [], caller.signal);
    caller.abort();
    await expect(broken).rejects.toThrow("abort");
    const { data } = await masks.cut(opened, [], new AbortController().signal);
    expect(data.includes(255)).toBe(true);
  });
});
