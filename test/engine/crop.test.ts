import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawClock } from "../../tools/sample/drawn-objects.ts";
import { type Engine, readError, startEngine } from "./engine-process.ts";

let engine: Engine;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** A PNG of 40 × 20 pixels, left half red, right half blue. */
const halves = await sharp({ create: { width: 40, height: 20, channels: 3, background: "red" } })
  .composite([
    {
      input: { create: { width: 20, height: 20, channels: 3, background: "blue" } },
      left: 20,
      top: 0,
    },
  ])
  .png()
  .toBuffer();

const post = (path: string, bytes: Uint8Array = halves) => engine.post(path, new Uint8Array(bytes));

describe("a crop", () => {
  it("has exactly the pixels of the area", async () => {
    const response = await post("/crop?left=18&top=5&width=4&height=3");
    const { data, info } = await sharp(await response.bytes())
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 4, height: 3 });
    expect([...data.subarray(0, 12)]).toEqual([255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255]);
  });

  it("uses the coordinates of the upright image", async () => {
    const rotated = await sharp(halves).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const response = await post("/crop?left=0&top=0&width=20&height=40", rotated);
    expect(response.status).toBe(200);
  });

  it.each([
    ["left=18&top=5&width=4", 400],
    ["left=0&top=0&width=0&height=1", 400],
    ["left=0&top=0&width=1.5&height=1", 400],
    ["left=-1&top=0&width=1&height=1", 400],
    ["left=37&top=0&width=4&height=1", 400],
    ["left=0&top=19&width=1&height=2", 400],
  ])("with the query %s is rejected", async (query, status) => {
    expect(await readError(await post(`/crop?${query}`))).toEqual([status, "bad_request"]);
  });

  it("of a file that is no image is rejected", async () => {
    const response = await engine.post("/crop?left=0&top=0&width=1&height=1", "hello");
    expect(await readError(response)).toEqual([422, "undecodable_image"]);
  });
});

it("object detection with a target returns only the objects that the target names", async () => {
  const clock = await drawClock();
  const listLabels = async (target: string) => {
    const response = await post(`/objects?target=${encodeURIComponent(target)}`, clock);
    const { objects }: { objects: { label: string }[] } = JSON.parse(await response.text());
    return objects.map(({ label }) => label);
  };
  expect(await listLabels("a wall clock")).toEqual(["clock"]);
  expect(await listLabels("a dog")).toEqual([]);
  expect(await listLabels("an alethiometer")).toEqual([]);
});
