import sharp from "sharp";
import { expect, it } from "vitest";
import { CHANNELS, encodeJpeg, type RgbaImage } from "../../../../src/media/pixels/jpeg.ts";

const MAX_WIDTH = 100;
const HEIGHTS = [1, 7, 16, 41];
const COLORS = ["grey", "coloured"] as const;
/** Mean difference from the original, in levels, above which an image is broken. */
const BROKEN = 16;
const OPAQUE = 255;

/** Draws waves with noise, as of a photograph. */
function drawImage(width: number, height: number, color: (typeof COLORS)[number]): RgbaImage {
  const data = new Uint8ClampedArray(width * height * CHANNELS);
  let random = width * 977 + height;
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff;
    const noise = ((random >> 16) % 41) - 20;
    const red = 128 + 90 * Math.sin(x / 5) + noise;
    const green = 128 + 80 * Math.cos(y / 4 + x / 9) + noise;
    const blue = 128 + 70 * Math.sin((x + y) / 11) + noise;
    const pixel = color === "grey" ? [red, red, red] : [red, green, blue];
    data.set([...pixel, OPAQUE], i * CHANNELS);
  }
  return { data, width, height };
}

/** Returns the mean difference of a JPEG from its original. Throws if libjpeg warns. */
async function differenceOf(jpeg: Uint8Array, { data, width, height }: RgbaImage) {
  const decoded = await sharp(jpeg, { failOn: "warning" }).ensureAlpha().raw().toBuffer();
  expect(decoded).toHaveLength(data.length);
  const sum = decoded.reduce((total, value, i) => total + Math.abs(value - data[i]!), 0);
  return sum / (width * height * (CHANNELS - 1));
}

it.each(COLORS)("another library decodes a %s JPEG of any width as it was", async (color) => {
  const broken: string[] = [];
  for (const height of HEIGHTS) {
    for (let width = 1; width <= MAX_WIDTH; width++) {
      const image = drawImage(width, height, color);
      const jpeg = await encodeJpeg(image);
      const difference = await differenceOf(jpeg, image).catch(() => Infinity);
      if (difference > BROKEN) broken.push(`${width} × ${height}`);
    }
  }
  expect(broken).toEqual([]);
});
