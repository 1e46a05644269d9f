import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadMasks } from "../../local/engine/masks.ts";
import { openPicture } from "../../local/engine/picture.ts";
import { type Engine, readRefusal, startEngine } from "./engine-process.ts";

const SIZE = { width: 480, height: 360 };
const DISC = { x: 190, y: 200, radius: 90 };

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** The disc and what is around it, each filled with a colour or one of two textures. */
function draw(disc: string, ground: string): Promise<Buffer> {
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
      <path fill="${ground}" d="M0 0h${width}v${height}H0z"/>
      <circle cx="${DISC.x}" cy="${DISC.y}" r="${DISC.radius}" fill="${disc}"/>
    </svg>`),
  )
    .png()
    .toBuffer();
}

const picture = await draw("url(#checks)", "url(#stripes)");
const truth = await readGrey(await draw("#fff", "#000"));
const box = `x=${90 / 480}&y=${95 / 360}&width=${200 / 480}&height=${210 / 360}`;

function readGrey(png: Uint8Array): Promise<Buffer> {
  return sharp(png).toColourspace("b-w").raw().toBuffer();
}

async function postPicture(path: string, bytes: Uint8Array = picture): Promise<Buffer> {
  const response = await engine.post(path, new Uint8Array(bytes));
  if (response.status !== 200) throw new Error(await response.text());
  expect(response.headers.get("content-type")).toBe("image/png");
  return Buffer.from(await response.arrayBuffer());
}

/** Intersection over union with the disc. */
function overlap(mask: Buffer): number {
  let [shared, either] = [0, 0];
  for (const [at, value] of mask.entries()) {
    const [a, b] = [value > 127, truth[at]! > 127];
    shared += Number(a && b);
    either += Number(a || b);
  }
  return shared / either;
}

const blank = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

describe("a mask", () => {
  it.each([
    ["within a box", box],
    ["without one", ""],
    ["within the whole picture", "x=0&y=0&width=1&height=1"],
    ["within a box that reaches beyond it", "x=0.1&y=0.2&width=0.6&height=0.9"],
  ])("is of what stands out %s", async (_, query) => {
    const png = await postPicture(`/mask?${query}`);
    const meta = await sharp(png).metadata();
    expect(meta).toMatchObject({ format: "png", channels: 1, depth: "uchar", ...SIZE });
    expect(overlap(await readGrey(png))).toBeGreaterThan(0.9);
  });

  it("is the same each time, and as large as it is asked to be", async () => {
    expect(await postPicture(`/mask?${box}`)).toEqual(await postPicture(`/mask?${box}`));
    const small = await sharp(await postPicture("/mask?max=120")).metadata();
    expect(small).toMatchObject({ width: 120, height: 90 });
    const same = await sharp(await postPicture("/mask?max=9000")).metadata();
    expect(same).toMatchObject(SIZE);
  });

  it("is upright", async () => {
    const turned = await sharp(picture).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const mask = await sharp(await postPicture("/mask", turned)).metadata();
    expect(mask).toMatchObject({ width: SIZE.height, height: SIZE.width });
  });

  it("makes a picture's background transparent", async () => {
    const png = await postPicture(`/cutout?${box}`);
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ ...SIZE, channels: 4 });
    const alphas = Buffer.from(data.filter((_, at) => at % 4 === 3));
    expect(overlap(alphas)).toBeGreaterThan(0.9);
    const centre = (DISC.y * SIZE.width + DISC.x) * 4;
    const [red = 0, green = 0, , alpha] = data.subarray(centre, centre + 4);
    expect({ isRed: red > green, alpha }).toEqual({ isRed: true, alpha: 255 });
  });

  it("makes it white for formats without transparency", async () => {
    const { data, info } = await sharp(await postPicture(`/cutout?ground=white&${box}`))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect({ channels: info.channels, corner: [...data.subarray(0, 3)] }).toEqual({
      channels: 3,
      corner: [255, 255, 255],
    });
  });

  it("leaves transparent what was", async () => {
    const clear = await sharp(picture).removeAlpha().ensureAlpha(0).png().toBuffer();
    const { data } = await sharp(await postPicture("/cutout", clear))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(data.every((value, at) => at % 4 < 3 || value === 0)).toBe(true);
  });
});

describe("a mask of", () => {
  it.each<[string, () => Promise<Buffer>, string]>([
    ["one pixel", () => blank(1, 1, "red"), ""],
    ["one pixel with a box", () => blank(1, 1, "red"), "x=0&y=0&width=1&height=1"],
    ["a line", () => blank(3_000, 1, "red"), ""],
    ["one colour", () => blank(300, 200, "red"), ""],
    ["one colour in all of it", () => blank(300, 200, "red"), "x=0&y=0&width=1&height=1"],
    ["almost nothing", () => draw("#fff", "#000"), "x=0.999&y=0.999&width=0.001&height=0.001"],
  ])("%s is a mask, and no error", async (_, make, query) => {
    const bytes = await make();
    const { width, height } = await sharp(bytes).metadata();
    const mask = await sharp(await postPicture(`/mask?${query}`, bytes)).metadata();
    expect(mask).toMatchObject({ width, height, channels: 1 });
  });

  it.each([
    ["x=0.5", 400],
    ["x=0&y=0&width=0&height=1", 400],
    ["x=1&y=0&width=1&height=1", 400],
    ["x=-1&y=0&width=1&height=1", 400],
    ["x=0&y=0&width=1.5&height=1", 400],
    ["x=a&y=0&width=1&height=1", 400],
    ["max=0", 400],
  ])("the box %s is refused", async (query, status) => {
    const response = await engine.post(`/mask?${query}`, new Uint8Array(picture));
    expect(await readRefusal(response)).toEqual([status, "bad_request"]);
  });

  it("what is no picture is refused", async () => {
    for (const path of ["/mask", "/cutout"]) {
      const response = await engine.post(path, "hello");
      expect(await readRefusal(response)).toEqual([422, "undecodable_image"]);
    }
  });
});

describe("a mask maker", () => {
  it("goes on after a call was broken off", async () => {
    const masks = await loadMasks();
    const opened = await openPicture(picture);
    const gone = new AbortController();
    const broken = masks.cut(opened, [], gone.signal);
    setTimeout(() => gone.abort(), 20);
    await expect(broken).rejects.toThrow("abort");
    const { data } = await masks.cut(opened, [], AbortSignal.timeout(20_000));
    expect(data.includes(255)).toBe(true);
  });
});
