import { describe, expect, it } from "vitest";
import {
  computeQuerySignature,
  computeSignature,
} from "../../../../src/media/pixels/image-signature.ts";
import { SIGNATURE } from "../../../../src/parameters.ts";

const { side, minCopySimilarity } = SIGNATURE;

/** Luma (0–255) of a synthetic image at a position, both ways from 0 to 1. */
type Scene = (x: number, y: number) => number;

type Edit = (original: Scene) => Scene;

/** Soft blobs that the seed chooses: scenes of two seeds aren't similar. */
function createScene(seed: number): Scene {
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
    blobs.reduce((luma, blob) => {
      const distance = ((x - blob.x) ** 2 + (y - blob.y) ** 2) / blob.size ** 2;
      return luma + blob.height * Math.exp(-distance);
    }, 120);
}

function renderLuma(scene: Scene): Uint8Array {
  return Uint8Array.from({ length: side * side }, (_, i) => {
    const luma = scene(((i % side) + 0.5) / side, (Math.floor(i / side) + 0.5) / side);
    return Math.min(255, Math.max(0, Math.round(luma)));
  });
}

const crop =
  (left: number, top: number, width: number, height = width): Edit =>
  (original) =>
  (x, y) =>
    original(left + x * width, top + y * height);
const mirror: Edit = (original) => (x, y) => original(1 - x, y);
const addBars =
  (across: number, down: number): Edit =>
  (original) =>
  (x, y) => {
    const [left, top] = [(x - across) / (1 - 2 * across), (y - down) / (1 - 2 * down)];
    return Math.min(left, top) < 0 || Math.max(left, top) > 1 ? 6 : original(left, top);
  };

const original = createScene(1);
const signature = computeSignature(renderLuma(original));

function shareHash(query: { hashes: number[] }, stored: { hashes: number[] }): boolean {
  const queryHashes = new Set(query.hashes);
  return stored.hashes.some((hash) => queryHashes.has(hash));
}

describe("the signature of an image matches a copy that is", () => {
  it.each<[string, Edit]>([
    ["unchanged", (scene) => scene],
    ["mirrored", mirror],
    ["cropped to the middle 0.7", crop(0.15, 0.15, 0.7)],
    ["cropped to a corner", crop(0.3, 0, 0.7)],
    ["cropped off-centre", crop(0.03, 0.17, 0.8)],
    ["cropped more in height", crop(0.05, 0.2, 0.9, 0.74)],
    ["cropped and mirrored", (scene) => mirror(crop(0.1, 0.02, 0.85)(scene))],
    ["between bars above and below", addBars(0, 0.15)],
    ["between bars left and right", addBars(0.2, 0)],
    ["brighter", (scene) => (x, y) => scene(x, y) * 1.2],
    ["darker", (scene) => (x, y) => scene(x, y) * 0.8],
    ["noisy", (scene) => (x, y) => scene(x, y) + 12 * Math.sin(9999 * x + 7777 * y)],
  ])("%s", (_, edit) => {
    const query = computeQuerySignature(renderLuma(edit(original)));
    expect(shareHash(query, signature)).toBe(true);
    expect(query.compare(signature.lumaThumbnail)).toBeGreaterThanOrEqual(minCopySimilarity);
  });
});

describe("the similarity of an image", () => {
  const similarityOf = (scene: Scene) =>
    computeQuerySignature(renderLuma(scene)).compare(signature.lumaThumbnail);

  it("to itself is 1", () => {
    expect(similarityOf(original)).toBe(1);
  });

  it.each([2, 3, 4, 5, 6, 7, 8, 9])(
    "to scene %i, another image, is below that of a copy",
    (seed) => {
      expect(similarityOf(createScene(seed))).toBeLessThan(minCopySimilarity);
    },
  );

  it("falls with the share of another image that is mixed in", () => {
    const other = createScene(2);
    const mix =
      (share: number): Scene =>
      (x, y) =>
        original(x, y) * (1 - share) + other(x, y) * share;
    const similarities = [0, 0.2, 0.4, 0.6].map((share) => similarityOf(mix(share)));
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
  });
});

describe("an image signature", () => {
  it("is below 1 KiB, without repeated hashes, and the same every time", () => {
    const { hashes, lumaThumbnail } = signature;
    expect(JSON.stringify(hashes).length + lumaThumbnail.length).toBeLessThan(1024);
    expect(computeSignature(renderLuma(original))).toEqual(signature);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it.each([0, 128, 255])("of flat luma %i has no hashes and matches nothing", (luma) => {
    const flat = renderLuma(() => luma);
    const { hashes, lumaThumbnail } = computeSignature(flat);
    expect(hashes).toEqual([]);
    expect(computeQuerySignature(flat)).toMatchObject({ hashes: [] });
    expect(computeQuerySignature(flat).compare(lumaThumbnail)).toBe(0);
    expect(computeQuerySignature(renderLuma(original)).compare(lumaThumbnail)).toBe(0);
  });

  it("of another number of pixels throws a RangeError", () => {
    expect(() => computeSignature(new Uint8Array(side))).toThrow(RangeError);
    expect(() => computeQuerySignature(new Uint8Array(side * side * 4))).toThrow(RangeError);
  });
});
