import { describe, expect, it } from "vitest";
import { regionVector, smallObjects } from "../../../src/ingest/steps/embed.ts";

const box = (label: string, score: number, side = 0.2) => {
  return { label, score, x: 0.1, y: 0.1, width: side, height: side };
};

describe("small objects", () => {
  it.each([
    ["are none without boxes", [], []],
    ["don't include large boxes", [box("dog", 0.9, 0.6)], []],
    ["don't include boxes of a low score", [box("dog", 0.3)], []],
    ["don't include empty boxes", [box("dog", 0.9, 0)], []],
    ["are sorted by score", [box("dog", 0.5), box("cat", 0.8)], [0.8, 0.5]],
    [
      "include each label once before any label twice",
      [box("dog", 0.9), box("dog", 0.8), box("dog", 0.7), box("cat", 0.6)],
      [0.9, 0.6, 0.8],
    ],
  ])("%s", (_, boxes, scores) => {
    expect(smallObjects(boxes).map(({ score }) => score)).toEqual(scores);
  });
});

describe("the region vector", () => {
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
  ])("of a crop with the vector %j in a keyframe with %j is %j", (crop, keyframe, expected) => {
    expect(regionVector(crop, keyframe)).toEqual(expected);
  });
});
