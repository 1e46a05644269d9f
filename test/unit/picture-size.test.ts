import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { HEAD_BYTES, requireKind } from "../../src/media/kind.ts";
import { sizeInHeader } from "../../src/media/picture-size.ts";
import { avif, gif, jpeg, losslessWebp, lossyWebp, png, webp } from "../picture-headers.ts";

const drawn = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "teal" } });

type Picture = ReturnType<typeof drawn>;

describe("the size in a picture's header", () => {
  it.each<[string, (picture: Picture) => Picture]>([
    ["PNG", (picture) => picture.png()],
    ["GIF", (picture) => picture.gif()],
    ["JPEG", (picture) => picture.jpeg()],
    ["progressive JPEG", (picture) => picture.jpeg({ progressive: true })],
    ["WebP", (picture) => picture.webp()],
    ["lossless WebP", (picture) => picture.webp({ lossless: true })],
    ["WebP with EXIF", (picture) => picture.withExif({ IFD0: { Artist: "x" } }).webp()],
    ["JPEG with EXIF", (picture) => picture.withExif({ IFD0: { Artist: "x" } }).jpeg()],
    ["AVIF", (picture) => picture.avif({ effort: 0 })],
  ])("is read of a %s", async (_, encode) => {
    for (const [width, height] of [
      [1, 1],
      [300, 7],
      [5, 1023],
    ] as const) {
      const bytes = await encode(drawn(width, height)).toBuffer();
      expect(sizeInHeader(bytes.subarray(0, HEAD_BYTES))).toEqual({ width, height });
      await expect(requireKind(bytes.subarray(0, HEAD_BYTES), "image")).resolves.toMatch(/^image/);
    }
  });

  it("is unknown where it comes later, or never", async () => {
    const bytes = await drawn(9, 9).jpeg().toBuffer();
    for (let length = 0; length < 100; length++) {
      expect(sizeInHeader(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(sizeInHeader(Buffer.from("hello"))).toBeUndefined();
    expect(sizeInHeader(Buffer.alloc(HEAD_BYTES, 0xff))).toBeUndefined();
    expect(sizeInHeader(jpeg(9, 9, 5000).subarray(0, HEAD_BYTES))).toBeUndefined();
  });
});

describe("a picture of more pixels than are decoded", () => {
  const side = Math.sqrt(LIMITS.imagePixels);
  it.each<[string, (width: number, height: number) => Uint8Array]>([
    ["PNG", png],
    ["GIF", gif],
    ["JPEG", jpeg],
    ["WebP", webp],
    ["lossless WebP", losslessWebp],
    ["lossy WebP", lossyWebp],
    ["AVIF", avif],
  ])("is refused as a %s, by its header", async (_, draw) => {
    expect(sizeInHeader(draw(320, 200))).toEqual({ width: 320, height: 200 });
    await expect(requireKind(draw(side, side), "image")).resolves.toMatch(/^image/);
    await expect(requireKind(draw(side, side + 1), "image")).rejects.toMatchObject({
      code: "too_large",
    });
  });
});
