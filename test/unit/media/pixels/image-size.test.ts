import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/config.ts";
import { HEAD_BYTES, requireMediaType } from "../../../../src/media/media-type.ts";
import { readImageSize } from "../../../../src/media/pixels/image-size.ts";
import * as headers from "../../../support/image-headers.ts";

const { gif, jpeg, losslessWebp, lossyWebp, png, webp } = headers;

const createImage = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "teal" } });

type SharpImage = ReturnType<typeof createImage>;

describe("the size of an image", () => {
  it.each<[string, (image: SharpImage) => SharpImage]>([
    ["PNG", (image) => image.png()],
    ["GIF", (image) => image.gif()],
    ["JPEG", (image) => image.jpeg()],
    ["progressive JPEG", (image) => image.jpeg({ progressive: true })],
    ["WebP", (image) => image.webp()],
    ["lossless WebP", (image) => image.webp({ lossless: true })],
    ["WebP with EXIF", (image) => image.withExif({ IFD0: { Artist: "x" } }).webp()],
    ["AVIF", (image) => image.avif({ effort: 0 })],
    ["JPEG with EXIF", (image) => image.withExif({ IFD0: { Artist: "x" } }).jpeg()],
  ])("is read from the header of a %s", async (_, encode) => {
    for (const [width, height] of [
      [1, 1],
      [300, 7],
      [5, 1023],
    ] as const) {
      const bytes = await encode(createImage(width, height)).toBuffer();
      expect(readImageSize(bytes.subarray(0, HEAD_BYTES))).toEqual({ width, height });
      await expect(requireMediaType(bytes.subarray(0, HEAD_BYTES), "image")).resolves.toMatch(
        /^image/,
      );
    }
  });

  it("is undefined if the first bytes don't hold it", async () => {
    const bytes = await createImage(9, 9).jpeg().toBuffer();
    for (let length = 0; length < 100; length++) {
      expect(readImageSize(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(readImageSize(Buffer.from("hello"))).toBeUndefined();
    expect(readImageSize(Buffer.alloc(HEAD_BYTES, 0xff))).toBeUndefined();
    expect(readImageSize(jpeg(9, 9, 5000).subarray(0, HEAD_BYTES))).toBeUndefined();
  });
});

describe("the size of a JPEG", () => {
  const [soi, frame] = [jpeg(9, 9).subarray(0, 2), jpeg(9, 9).subarray(6)];
  const after = (...bytes: number[]) => Buffer.concat([soi, Buffer.from(bytes), frame]);

  it("isn't what another format's header in it says", () => {
    const bytes = Buffer.from(jpeg(9000, 9000, 100));
    png(16, 16)
      .slice(12, 24)
      .forEach((byte, i) => (bytes[12 + i] = byte));
    expect(readImageSize(bytes)).toEqual({ width: 9000, height: 9000 });
  });

  it.each<[string, Uint8Array]>([
    ["a marker without a length", after(0xff, 0x01)],
    ["a restart marker", after(0xff, 0xd0)],
    ["a second start", after(0xff, 0xd8)],
    ["an end", after(0xff, 0xd9)],
    ["bytes between markers", after(0x00)],
    ["no pixels", jpeg(9, 0)],
  ])("is undefined where decoders may see another one: %s", (_, bytes) => {
    expect(readImageSize(jpeg(9, 9))).toEqual({ width: 9, height: 9 });
    expect(readImageSize(bytes)).toBeUndefined();
  });
});

describe("an image of too many pixels", () => {
  const side = Math.sqrt(LIMITS.imagePixels);
  it.each<[string, (width: number, height: number) => Uint8Array]>([
    ["PNG", png],
    ["GIF", gif],
    ["JPEG", jpeg],
    ["WebP", webp],
    ["lossless WebP", losslessWebp],
    ["lossy WebP", lossyWebp],
    ["HEIC", (width, height) => headers.heif("heic", width, height)],
    ["AVIF", (width, height) => headers.heif("avif", width, height)],
  ])("is rejected by the header of a %s", async (_, encodeHeader) => {
    expect(readImageSize(encodeHeader(320, 200))).toEqual({ width: 320, height: 200 });
    await expect(requireMediaType(encodeHeader(side, side), "image")).resolves.toMatch(/^image/);
    await expect(requireMediaType(encodeHeader(side, side + 1), "image")).rejects.toMatchObject({
      code: "too_large",
    });
  });
});
