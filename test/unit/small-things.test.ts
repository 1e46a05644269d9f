import { describe, expect, it } from "vitest";
import { placeBetween, smallThings } from "../../src/ingest/small-things.ts";

const at = (label: string, score: number, side = 0.2) => {
  return { label, score, x: 0.1, y: 0.1, width: side, height: side };
};

describe("small things", () => {
  it.each([
    ["none of none", [], []],
    ["none of large ones", [at("dog", 0.9, 0.6)], []],
    ["none of unsure ones", [at("dog", 0.3)], []],
    ["none of nothing", [at("dog", 0.9, 0)], []],
    ["the surest first", [at("dog", 0.5), at("cat", 0.8)], [0.8, 0.5]],
    [
      "each label before any again",
      [at("dog", 0.9), at("dog", 0.8), at("dog", 0.7), at("cat", 0.6)],
      [0.9, 0.6, 0.8],
    ],
  ])("are %s", (_, boxes, scores) => {
    expect(smallThings(boxes).map(({ score }) => score)).toEqual(scores);
  });
});

describe("the place of a small thing", () => {
  it.each([
    [
      [3, 0],
      [0, 5],
      [1, 1],
    ],
    [
      [0, 0],
      [0, 5],
      [0, 1],
    ],
  ])("%j in %j is %j", (region, picture, place) => {
    expect(placeBetween(region, picture)).toEqual(place);
  });
});
