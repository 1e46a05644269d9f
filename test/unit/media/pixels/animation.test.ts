import sharp from "sharp";
import { expect, it } from "vitest";
import { laterFrames, mayBeAnimated } from "../../../../src/media/pixels/animation.ts";
import { isBlank } from "../../../../src/media/pixels/transparency.ts";
import { animation } from "../../../setup/animations.ts";

async function pixelsOf(file: Uint8Array) {
  const { data, info } = await sharp(file)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

it.each([
  ["gif", { width: 64, height: 48 }],
  ["webp", { width: 64, height: 48 }],
  ["apng", { width: 32, height: 24 }],
] as const)("each later frame of an animation is a file: %s", async (format, size) => {
  const file = await animation(format, ["clear", "white", "square"]);
  expect(mayBeAnimated(file)).toBe(true);
  expect(isBlank((await pixelsOf(file)).data)).toBe(true);
  const [blank, square, ...others] = [...laterFrames(file)];
  expect(others).toEqual([]);
  expect(isBlank((await pixelsOf(blank!)).data)).toBe(true);
  const shown = await pixelsOf(square!);
  expect(shown).toMatchObject(size);
  const centre = 4 * (shown.width * (shown.height / 2) + shown.width / 2);
  expect([...shown.data.subarray(centre, centre + 3)]).toEqual([220, 0, 0]);
});

it.each(["gif", "webp", "apng"] as const)("a cut off animation ends early: %s", async (format) => {
  const file = await animation(format, ["clear", "white", "square"]);
  for (let bytes = 0; bytes < file.length; bytes++) {
    const frames = [...laterFrames(file.subarray(0, bytes))];
    expect(frames.length).toBeLessThanOrEqual(2);
  }
});

it("an image without animation has no later frame", async () => {
  const image = () => sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } });
  for (const file of await Promise.all([
    image().gif().toBuffer(),
    image().webp().toBuffer(),
    image().png().toBuffer(),
    image().jpeg().toBuffer(),
  ])) {
    expect([...laterFrames(file)]).toEqual([]);
  }
  expect(mayBeAnimated(await image().png().toBuffer())).toBe(false);
  expect(mayBeAnimated(await image().webp().toBuffer())).toBe(false);
});

it.each<[string, number[], boolean]>([
  ["transparent pixels of several colours", [1, 2, 3, 0, 200, 100, 0, 4], true],
  ["pixels of one colour with noise", [100, 100, 100, 255, 104, 98, 101, 255], true],
  ["pixels of two colours", [100, 100, 100, 255, 130, 100, 100, 255], false],
  ["a transparent and an opaque pixel", [0, 0, 0, 0, 0, 0, 0, 255], false],
])("%s are blank: %j, %s", (_, data, expected) => {
  expect(isBlank(new Uint8ClampedArray(data))).toBe(expected);
});
