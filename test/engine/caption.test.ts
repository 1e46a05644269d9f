import { describe, expect, it } from "vitest";
import { templateCaption, toPlural } from "../../local/engine/caption.ts";
import { COCO_LABELS } from "../../local/engine/coco.ts";

describe("a template caption", () => {
  it.each<[string[], boolean, string]>([
    [[], false, ""],
    [[], true, "A picture with words."],
    [["dog"], false, "A dog."],
    [["airplane"], false, "An airplane."],
    [["umbrella"], false, "An umbrella."],
    [["person", "dog", "dog"], false, "A person and two dogs."],
    [["dog", "person", "dog"], true, "Two dogs, a person and words."],
    [["cat", "chair", "bed"], false, "A cat, a chair and a bed."],
    [["skis", "person"], false, "A pair of skis and a person."],
    [["scissors", "scissors"], false, "Two pairs of scissors."],
    [["broccoli", "broccoli", "fork"], false, "Broccoli and a fork."],
    [Array.from({ length: 10 }, () => "person"), false, "Ten people."],
    [Array.from({ length: 11 }, () => "sheep"), false, "Many sheep."],
    [
      ["car", "bus", "truck", "bench", "kite", "bird"],
      false,
      "A car, a bus, a truck, a bench and a kite.",
    ],
  ])("of %j with on-screen text %j is %j", (labels, hasText, caption) => {
    expect(templateCaption(labels, hasText)).toBe(caption);
  });
});

describe("the plural", () => {
  it.each([
    ["person", "people"],
    ["sheep", "sheep"],
    ["knife", "knives"],
    ["mouse", "mice"],
    ["bus", "buses"],
    ["bench", "benches"],
    ["couch", "couches"],
    ["sandwich", "sandwiches"],
    ["toothbrush", "toothbrushes"],
    ["wine glass", "wine glasses"],
    ["potted plant", "potted plants"],
    ["hair drier", "hair driers"],
    ["tv", "TVs"],
    ["remote", "remotes"],
    ["skis", "skis"],
  ])("of %j is %j", (label, plural) => {
    expect(toPlural(label)).toBe(plural);
  });

  it("exists for every label of the detector", () => {
    for (const label of COCO_LABELS) expect(toPlural(label)).toMatch(/^[a-zTV ]+$/);
    expect(COCO_LABELS).toHaveLength(80);
  });
});
