import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  countVisible,
  isTransparent,
  layOn,
  mayBeTransparent,
} from "../../../../src/media/pixels/transparency.ts";

const make = (channels: 3 | 4) =>
  sharp({
    create: { width: 8, height: 4, channels, background: { r: 9, g: 9, b: 9, alpha: 0.5 } },
  });

describe("the first bytes of an image", () => {
  it.each<[string, () => Promise<Buffer>, boolean]>([
    ["a PNG with alpha", () => make(4).png().toBuffer(), true],
    ["a PNG without", () => make(3).png().toBuffer(), false],
    ["a PNG with transparent colours", () => make(4).png({ palette: true }).toBuffer(), true],
    ["a WebP with alpha", () => make(4).webp().toBuffer(), true],
    ["a lossless WebP with alpha", () => make(4).webp({ lossless: true }).toBuffer(), true],
    ["a WebP without", () => make(3).webp().toBuffer(), false],
    ["a JPEG", () => make(3).jpeg().toBuffer(), false],
    ["nothing", async () => Buffer.alloc(0), false],
  ])("say whether it may be transparent: %s", async (_, makeImage, expected) => {
    expect(mayBeTransparent(await makeImage())).toBe(expected);
  });
});

describe("an image on a background", () => {
  const size = { width: 2, height: 1 };
  const image = { ...size, data: Uint8ClampedArray.of(0, 0, 0, 255, 200, 100, 0, 51) };

  it("is flat, and mixed with it by its alpha", () => {
    expect(isTransparent(image)).toBe(true);
    expect([...layOn(image, 255).data]).toEqual([0, 0, 0, 255, 244, 224, 204, 255]);
    expect([...layOn(image, 0).data]).toEqual([0, 0, 0, 255, 40, 20, 0, 255]);
    expect(isTransparent(layOn(image, 0))).toBe(false);
  });

  it("is seen where it differs from it", () => {
    expect(countVisible(layOn(image, 255), 255)).toBe(2);
    expect(countVisible(layOn(image, 0), 0)).toBe(1);
  });
});
