import { expect, it } from "vitest";
import { labelsNamedBy } from "../../local/engine/coco-names.ts";

it.each<[string, string[]]>([
  ["dog", ["dog"]],
  ["Dogs", ["dog"]],
  ["two brown puppies in the snow", ["dog"]],
  ["a dog running", ["dog"]],
  ["running dog", ["dog"]],
  ["a group of people", ["person"]],
  ["young women", ["person"]],
  ["children", ["person"]],
  ["a person in a red shirt", ["person"]],
  ["man and dog", ["person"]],
  ["hot dog", ["hot dog"]],
  ["wine glasses", ["wine glass"]],
  ["a bowl of fruit", ["bowl"]],
  ["bikes", ["bicycle"]],
  ["fruit", ["banana", "apple", "orange"]],
  ["dog house", []],
  ["a hotdog stand", []],
  ["lighthouse", []],
  ["constructor", []],
  ["", []],
  ["东京", []],
])("%j names %j", (phrase, labels) => {
  expect(labelsNamedBy(phrase)).toEqual(labels);
});

it("animals and vehicles are of ten and eight kinds", () => {
  expect(labelsNamedBy("wild animals")).toEqual(expect.arrayContaining(["bird", "dog", "giraffe"]));
  expect(labelsNamedBy("wild animals")).toHaveLength(10);
  expect(labelsNamedBy("a vehicle")).toHaveLength(8);
});
