import { expect, it } from "vitest";
import { labelsForPhrase } from "../../local/engine/coco-names.ts";

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
])("the phrase %j names the labels %j", (phrase, labels) => {
  expect(labelsForPhrase(phrase)).toEqual(labels);
});

it("the phrases for animals and vehicles name ten and eight labels", () => {
  expect(labelsForPhrase("wild animals")).toEqual(
    expect.arrayContaining(["bird", "dog", "giraffe"]),
  );
  expect(labelsForPhrase("wild animals")).toHaveLength(10);
  expect(labelsForPhrase("a vehicle")).toHaveLength(8);
});
