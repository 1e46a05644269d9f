import { describe, expect, it } from "vitest";
import { confusions, edits } from "../../../src/normal-form/edits.ts";
import { isCommonStem, isKnownStem } from "../../../src/normal-form/known-words.ts";
import { wordForm } from "../../../src/normal-form/languages.ts";

describe("the edits of a word", () => {
  it.each([
    ["acordion", "accordion", true],
    ["accordeion", "accordion", true],
    ["accordian", "accordion", true],
    ["parachtue", "parachute", true],
    ["трамвй", "трамвай", true],
    ["restaraunt", "restaurant", false],
    ["accordion", "accordion", false],
  ])("of %s have %s: %s", (word, edited, expected) => {
    expect(edits(word).includes(edited)).toBe(expected);
  });

  it("are none for a word with other characters than letters of one alphabet", () => {
    expect(["17h00", "café", "서울", "аbc"].flatMap(edits)).toEqual([]);
  });
});

describe("words that are confused", () => {
  it.each([
    ["quite", "quiet", true],
    ["desert", "dessert", true],
    ["seperate", "separate", true],
    ["fotograf", "photograf", true],
    ["wether", "weather", true],
    ["собока", "собака", true],
    ["horse", "house", false],
    ["goat", "boat", false],
    ["flight", "fight", false],
  ])("with %s are %s: %s", (word, other, expected) => {
    expect(confusions(word).includes(other)).toBe(expected);
    expect(confusions(word)).not.toContain(word);
  });
});

describe("a stem", () => {
  it.each([
    ["tigers", true],
    ["heron", true],
    ["wether", false],
    ["parachtue", false],
  ])("of %s is that of a common English word: %s", (word, expected) => {
    expect(isCommonStem(wordForm(word, "en").stem)).toBe(expected);
  });

  it.each([
    ["tigers", true],
    ["accordion", true],
    ["separated", true],
    ["acordion", false],
    ["parachtue", false],
  ])("of %s is that of an English word: %s", (word, expected) => {
    expect(isKnownStem(wordForm(word, "en").stem)).toBe(expected);
  });
});
