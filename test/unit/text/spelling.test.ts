import { describe, expect, it } from "vitest";
import { edits, isKnownStem } from "../../../src/text/spelling.ts";
import { wordForm } from "../../../src/text/stems.ts";

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

describe("a stem", () => {
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
