import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { cropRects } from "../../src/ingest/steps/embed.ts";
import {
  decodeJpeg,
  encodeJpeg,
  requireSmallJpeg,
  lumaPixels,
} from "../../src/media/pixels/jpeg.ts";
import { fixture } from "../support/client.ts";
import { jpeg } from "../support/image-headers.ts";

const decode = (jpeg: Uint8Array) => decodeJpeg(jpeg, (image) => image);
const read = async (name: string) => (await fixture(name)).bytes();

describe("a JPEG", () => {
  it.each([
    ["boats.jpg", 1024, 819],
    ["words.jpg", 960, 540],
    ["boats-grey.jpg", 200, 159],
  ])("is decoded in its size: %s", async (name, width, height) => {
    const image = await decode(await read(name));
    expect(image).toMatchObject({ width, height });
    expect(image.data.length).toBe(width * height * 4);
  });

  it.each(["truncated.jpg"])("that is damaged is unreadable_image: %s", async (name) => {
    const decoded = decode(await read(name));
    await expect(decoded).rejects.toMatchObject({ code: "unreadable_image" });
  });

  it("of more pixels than one of ours isn't decoded", async () => {
    const decoded = decode(jpeg(2000, 2101));
    await expect(decoded).rejects.toMatchObject({ code: "too_large" });
  });

  it("of more scans than one of ours isn't decoded", async () => {
    const bytes = Buffer.from(await read("words.jpg"));
    const start = bytes.indexOf(Buffer.from([0xff, 0xda]));
    const scan = bytes.subarray(start, start + 14);
    const scans = Array.from({ length: 40 }, () => scan);
    const bomb = Buffer.concat([bytes.subarray(0, start), ...scans, bytes.subarray(start)]);
    expect(requireSmallJpeg(bytes)).toBeUndefined();
    expect(() => requireSmallJpeg(bomb)).toThrow("can't be decoded");
    await expect(decode(bomb)).rejects.toMatchObject({ code: "unreadable_image" });
  });

  it("that is damaged doesn't affect others that are decoded at the same time", async () => {
    const [good, bad] = [await read("words.jpg"), new Uint8Array([1, 2, 3])];
    const decoded = await Promise.allSettled([bad, good, bad, good, good].map(decode));
    expect(decoded.map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
  });

  it("leaves no global location, which would break what asks for the URL of a page", async () => {
    await encodeJpeg(await decode(await read("words.jpg")));
    expect("location" in globalThis).toBe(false);
  });

  it("has nearly the same pixels after it was encoded", async () => {
    const image = await decode(await read("boats.jpg"));
    const again = await decode(await encodeJpeg(image));
    const differences = image.data.map((value, i) => Math.abs(value - again.data[i]!));
    expect(differences.reduce((sum, value) => sum + value, 0) / differences.length).toBeLessThan(3);
  });
});

describe("the luma of a JPEG", () => {
  it.each(["boats.jpg", "words.jpg"])("is that of Images, but for rounding: %s", async (name) => {
    const jpeg = await read(name);
    const result = await localImages(env)
      .input(new Blob([jpeg]).stream())
      .transform({ width: 96, height: 96, fit: "squeeze" })
      .output({ format: "rgba" });
    const rgba = new Uint8Array(await result.response().arrayBuffer());
    const ours = await lumaPixels(jpeg);
    const differences = ours.map((luma, i) => {
      const [red, green, blue] = rgba.subarray(i * 4, i * 4 + 3);
      return Math.abs(luma - (0.299 * red! + 0.587 * green! + 0.114 * blue!));
    });
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    expect(mean).toBeLessThan(4);
  });
});

it("crops have the size of their rectangle with its margin", async () => {
  const rects = [
    { x: 0.25, y: 0.25, width: 0.5, height: 0.5 },
    { x: 0.9, y: 0.9, width: 0.1, height: 0.1 },
  ];
  const crops = await cropRects(await read("words.jpg"), rects, 0.1);
  const sizes = await Promise.all(crops.map(decode));
  expect(sizes.map(({ width, height }) => [width, height])).toEqual([
    [576, 366],
    [106, 64],
  ]);
});
