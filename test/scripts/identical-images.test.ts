import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { areIdentical, toBlocks } from "../../src/media/pixels/luma.ts";
import { photographPath } from "../../tools/sample/images.ts";
import { drawText, type TextStyle } from "../../tools/sample/text-image.ts";

async function blocksOf(image: Buffer, quality = 90) {
  const jpeg = await sharp(image).resize(960, 540, { fit: "cover" }).jpeg({ quality }).toBuffer();
  const { data, info } = await sharp(jpeg).greyscale().raw().toBuffer({ resolveWithObject: true });
  return toBlocks({ width: info.width, height: info.height, luma: new Uint8Array(data) });
}

const PAGE = Array.from({ length: 24 }, (_, i) => `Line ${i} of a page that has a lot to say`);
const SMALL = { size: 12 };

describe("two images are identical", () => {
  it.each([
    ["a page", () => drawText(PAGE, SMALL)],
    ["a photo", () => sharp(photographPath("nagasaki-boats")).toBuffer()],
  ])("if they are encodings of %s", async (_, draw) => {
    const image = await draw();
    expect(areIdentical(await blocksOf(image, 92), await blocksOf(image, 80))).toBe(true);
  });

  it.each<[string, string[], string[], TextStyle]>([
    ["a word", PAGE, PAGE.with(7, "Line 7 of a page that has a lot to pay"), SMALL],
    ["a digit", ["Saturn rises", "at 22:40"], ["Saturn rises", "at 22:41"], {}],
    ["a small digit", ["Score 3 : 1"], ["Score 3 : 7"], SMALL],
    ["a full stop", ["The end"], ["The end."], SMALL],
    ["pale text", ["HELLO"], ["HELIO"], { background: "#ffffff", color: "#b0b0b0", size: 14 }],
  ])("not if they differ by %s", async (_, text, other, style) => {
    const [one, two] = [await drawText(text, style), await drawText(other, style)];
    expect(areIdentical(await blocksOf(one), await blocksOf(two))).toBe(false);
  });

  it("not if they have other sizes", () => {
    const image = { width: 8, height: 4, luma: new Uint8Array(32) };
    const turned = { width: 4, height: 8, luma: new Uint8Array(32) };
    expect(areIdentical(toBlocks(image), toBlocks(turned))).toBe(false);
  });
});
