import { describe, expect, it } from "vitest";
import { pasteMask, planMask } from "../../../src/media/pixels/mask.ts";
import { boxesForTerms, toBoxes, visualScore } from "../../../src/search/localization.ts";
import { targetPhrase, uniqueWords } from "../../../src/search/query.ts";

const box = { x: 0, y: 0, width: 0.5, height: 0.5 };

describe("the target phrase", () => {
  it.each<[string, string | null]>([
    ["dog", "dog"],
    ["Where is the red cup?", "red cup"],
    ["a photo of a man with a hat", "man with a hat"],
    ["show me the “Golden Gate” bridge!", "Golden Gate bridge"],
    ["find the video where she is on it", null],
    ["東京タワー", "東京タワー"],
    ["", null],
    ["?!", null],
    ["word ".repeat(12), "word ".repeat(12).trim()],
    ["word ".repeat(13), null],
  ])("of %j is %j", (text, phrase) => {
    expect(targetPhrase(text)).toBe(phrase);
  });
});

describe("stored boxes", () => {
  it.each<[string, string[]]>([
    ["two dogs", ["dog"]],
    ["a traffic light", ["traffic light"]],
    ["traffic", []],
    ["DOG near a bus", ["bus", "dog"]],
    ["a puppy", []],
    ["", []],
  ])("with labels in %j are %j, best score first", (text, labels) => {
    const stored = [
      { ...box, label: "dog", score: 0.5 },
      { ...box, label: "Traffic light", score: 0.6 },
      { ...box, label: "buses", score: 0.7 },
      { ...box, label: "hot dog", score: 0.8 },
      { ...box, label: "?", score: 0.9 },
    ];
    const named = boxesForTerms(stored, uniqueWords(text));
    expect(named.map(({ label }) => label.toLowerCase().replace("buses", "bus"))).toEqual(labels);
  });
});

describe("rectangles of the detection model", () => {
  const hit = { score: 0.2, evidence: [{ kind: "visual" as const, score: 0.7 }] };

  it("become boxes clipped to the frame, with the visual score of the hit", () => {
    const rects = [
      { x: -0.1, y: 0.5, width: 0.3, height: 0.7 },
      { x: 1.2, y: 0, width: 0.1, height: 0.1 },
      { x: 0.5, y: 0.5, width: 0, height: 0.1 },
      { x: Number.NaN, y: 0.5, width: 0.1, height: 0.1 },
    ];
    const boxes = toBoxes(rects, "red cup", hit);
    expect(boxes).toEqual([
      { label: "red cup", score: 0.7, x: 0, y: 0.5, width: expect.closeTo(0.2), height: 0.5 },
    ]);
  });

  it.each<[string, { kind: "visual" | "speech" | "caption"; score: number }[], number | null]>([
    ["no evidence", [], null],
    ["speech", [{ kind: "speech", score: 0.9 }], null],
    ["a caption", [{ kind: "caption", score: 0.4 }], 0.4],
    [
      "a caption and a keyframe",
      [
        { kind: "caption", score: 0.4 },
        { kind: "visual", score: 0.3 },
      ],
      0.4,
    ],
  ])("get the score of %s", (_, evidence, score) => {
    expect(visualScore({ evidence })).toBe(score);
  });
});

describe("the crop of a mask", () => {
  it.each([
    [
      "has a margin",
      { width: 960, height: 720 },
      { x: 0.25, y: 0.25, width: 0.5, height: 0.25 },
      { width: 480, height: 360 },
      { left: 96, top: 66, width: 288, height: 138 },
      { left: 192, top: 132, width: 576, height: 276 },
    ],
    [
      "is clipped to the frame",
      { width: 300, height: 200 },
      { x: 0, y: 0.5, width: 1, height: 0.5 },
      { width: 300, height: 200 },
      { left: 0, top: 70, width: 300, height: 130 },
      { left: 0, top: 70, width: 300, height: 130 },
    ],
    [
      "has at least one pixel",
      { width: 700, height: 1 },
      { x: 1, y: 1, width: 0, height: 0 },
      { width: 480, height: 1 },
      { left: 479, top: 0, width: 1, height: 1 },
      { left: 698, top: 0, width: 2, height: 1 },
    ],
  ])("%s", (_, keyframe, rect, mask, inMask, inKeyframe) => {
    expect(planMask(keyframe, rect)).toEqual({ mask, inMask, inKeyframe });
  });

  it("is pasted at its place; without foreground or background there is no mask", () => {
    const layout = {
      mask: { width: 4, height: 3 },
      inMask: { left: 1, top: 1, width: 2, height: 2 },
      inKeyframe: { left: 2, top: 2, width: 4, height: 4 },
    };
    const pasted = pasteMask(layout, Uint8Array.of(0, 255, 255, 255));
    expect([...pasted!]).toEqual([0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 255, 0]);
    expect(pasteMask(layout, Uint8Array.of(0, 0, 0, 0))).toBeNull();
    expect(pasteMask(layout, Uint8Array.of(255, 255, 255, 255))).toBeNull();
  });
});
