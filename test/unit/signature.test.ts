import { describe, expect, it } from "vitest";
import { SIGNATURE } from "../../src/config.ts";
import { querySignatures, signPicture } from "../../src/media/signature.ts";

const { side, same } = SIGNATURE;

/** Grey level (0–255) at a place, both ways from 0 to 1. */
type Scene = (x: number, y: number) => number;

/** Soft waves and blobs that the seed chooses: no two seeds look alike. */
function scene(seed: number): Scene {
  let state = seed * 7919 + 17;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < 5; i++) random();
  const blobs = Array.from({ length: 40 }, () => ({
    x: random() * 1.2 - 0.1,
    y: random() * 1.2 - 0.1,
    size: 0.03 + 0.15 * random(),
    height: 200 * (random() - 0.5),
  }));
  return (x, y) =>
    blobs.reduce((level, blob) => {
      const distance = ((x - blob.x) ** 2 + (y - blob.y) ** 2) / blob.size ** 2;
      return level + blob.height * Math.exp(-distance);
    }, 120);
}

function draw(picture: Scene): Uint8Array {
  return Uint8Array.from({ length: side * side }, (_, i) => {
    const level = picture(((i % side) + 0.5) / side, (Math.floor(i / side) + 0.5) / side);
    return Math.min(255, Math.max(0, Math.round(level)));
  });
}

const crop =
  (left: number, top: number, width: number, height = width) =>
  (of: Scene): Scene =>
  (x, y) =>
    of(left + x * width, top + y * height);
const mirror =
  (of: Scene): Scene =>
  (x, y) =>
    of(1 - x, y);
const bars =
  (across: number, down: number) =>
  (of: Scene): Scene =>
  (x, y) => {
    const [left, top] = [(x - across) / (1 - 2 * across), (y - down) / (1 - 2 * down)];
    return Math.min(left, top) < 0 || Math.max(left, top) > 1 ? 6 : of(left, top);
  };

const boat = scene(1);
const stored = signPicture(draw(boat));

function shareKeys(query: { keys: number[] }, signature: { keys: number[] }): boolean {
  const asked = new Set(query.keys);
  return signature.keys.some((key) => asked.has(key));
}

describe("a picture is found again", () => {
  it.each<[string, (of: Scene) => Scene]>([
    ["as it is", (of) => of],
    ["mirrored", mirror],
    ["cropped to the middle 0.7", crop(0.15, 0.15, 0.7)],
    ["cropped to a corner", crop(0.3, 0, 0.7)],
    ["cropped off-centre", crop(0.03, 0.17, 0.8)],
    ["cropped more in height", crop(0.05, 0.2, 0.9, 0.74)],
    ["cropped and mirrored", (of) => mirror(crop(0.1, 0.02, 0.85)(of))],
    ["between bars above and below", bars(0, 0.15)],
    ["between bars left and right", bars(0.2, 0)],
    ["brighter", (of) => (x, y) => of(x, y) * 1.2],
    ["darker", (of) => (x, y) => of(x, y) * 0.8],
    ["with noise", (of) => (x, y) => of(x, y) + 12 * Math.sin(9999 * x + 7777 * y)],
  ])("%s", (_, edit) => {
    const query = querySignatures(draw(edit(boat)));
    expect(shareKeys(query, stored)).toBe(true);
    expect(query.compare(stored.thumbnail)).toBeGreaterThanOrEqual(same);
  });

  it("with a similarity of 1 where nothing was changed", () => {
    expect(querySignatures(draw(boat)).compare(stored.thumbnail)).toBe(1);
  });
});

describe("another picture", () => {
  it.each([2, 3, 4, 5, 6, 7, 8, 9])("is another: scene %i", (seed) => {
    expect(querySignatures(draw(scene(seed))).compare(stored.thumbnail)).toBeLessThan(same);
  });

  it("that is less alike has a lower similarity", () => {
    const blend = (share: number): Scene => {
      const other = scene(2);
      return (x, y) => boat(x, y) * (1 - share) + other(x, y) * share;
    };
    const similarities = [0, 0.2, 0.4, 0.6].map((share) =>
      querySignatures(draw(blend(share))).compare(stored.thumbnail),
    );
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
  });
});

describe("a signature", () => {
  it("is small, and the same every time", () => {
    expect(JSON.stringify(stored).length).toBeLessThan(1024);
    expect(signPicture(draw(boat))).toEqual(stored);
    expect(new Set(stored.keys).size).toBe(stored.keys.length);
  });

  it.each([0, 128, 255])("of nothing but grey %i has no keys, and is like nothing", (level) => {
    const flat = draw(() => level);
    const { keys, thumbnail } = signPicture(flat);
    expect(keys).toEqual([]);
    expect(querySignatures(flat)).toMatchObject({ keys: [] });
    expect(querySignatures(flat).compare(thumbnail)).toBe(0);
    expect(querySignatures(draw(boat)).compare(thumbnail)).toBe(0);
  });

  it("of another number of pixels can't be made", () => {
    expect(() => signPicture(new Uint8Array(side))).toThrow(RangeError);
    expect(() => querySignatures(new Uint8Array(side * side * 4))).toThrow(RangeError);
  });
});
