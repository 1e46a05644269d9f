import { describe, expect, it } from "vitest";
import { formQuestion, suggestQuestions } from "../../../scripts/demo/question-suggestions.ts";
import {
  suggestLabels,
  suggestPhrases,
  suggestSearches,
  suggestWords,
} from "../../../scripts/demo/search-suggestions.ts";
import { readVocabulary } from "../../../scripts/demo/vocabulary.ts";

const vocabulary = readVocabulary();

interface Contents {
  labels?: string[];
  text?: string;
  speech?: string;
}

/** Makes a segment of each asset. */
function segmentsOf(...assets: Contents[]) {
  return assets.map(({ labels = [], text = "", speech = "" }, i) => {
    return { asset_id: `img_${i}`, labels, on_screen_text: text, transcript: speech };
  });
}

const textsOf = (suggestions: { text: string }[]) => suggestions.map(({ text }) => text);

describe("suggested labels", () => {
  const people = Array.from({ length: 5 }, () => ({ labels: ["person"] }));
  const dogs = [{ labels: ["dog"] }, { labels: ["dog", "boat"] }, { labels: ["boat", "dog"] }];

  it("are those of several assets, and those of most assets come last", () => {
    const segments = segmentsOf(...people, ...dogs, { labels: ["vase"] });
    expect(textsOf(suggestLabels(segments))).toEqual(["dog", "boat", "person"]);
  });

  it("may be of one asset where there are few", () => {
    expect(textsOf(suggestLabels(segmentsOf({ labels: ["vase"] })))).toEqual(["vase"]);
  });

  it("count the segments of one video once", () => {
    const segments = segmentsOf(...people, { labels: ["cup"] });
    const twice = [...segments, ...segments.slice(-1)];
    expect(textsOf(suggestLabels(twice))).not.toContain("cup");
  });
});

describe("suggested on-screen words", () => {
  it.each([
    ["a noun of the dictionary", ["LANTERN FESTIVAL"], ["festival", "lantern"]],
    ["a misread watermark", ["shuiterstec", "utterstgck"], []],
    ["an unknown word of several assets", ["Clideo way", "clideo"], ["clideo"]],
    ["a short or very frequent word", ["the man was there", "a big day"], []],
    ["a function word of several assets", ["because", "because"], []],
    ["a number", ["2024 12345"], []],
  ])("of %s", (_, texts, expected) => {
    const segments = segmentsOf(...texts.map((text) => ({ text })));
    expect(textsOf(suggestWords(segments, vocabulary))).toEqual(expected);
  });
});

describe("suggested phrases of speech", () => {
  it.each([
    ["adjective and noun", "A girl sits in front of a painted rainbow.", ["painted rainbow"]],
    ["two nouns", "Here is a chalk portrait.", ["chalk portrait"]],
    ["a name inside a sentence", "I met Ada Lovelace in town.", ["Ada Lovelace"]],
    ["no capitalised words at its start", "Good Morning everyone.", []],
    ["no verb before a noun", "They keep attempting it again.", []],
    ["no phrase across a comma", "Look at the frozen, lakes are here.", []],
    ["no unknown word", "A wuthrig lantern xyzzy.", []],
  ])("are of %s", (_, speech, expected) => {
    expect(textsOf(suggestPhrases(segmentsOf({ speech }), vocabulary))).toEqual(expected);
  });

  it("begin with one of each asset", () => {
    const segments = segmentsOf(
      { speech: "A frozen lake near a stone chapel." },
      { speech: "A chalk portrait." },
    );
    const assets = suggestPhrases(segments, vocabulary).map(({ assetIds }) => [...assetIds][0]);
    expect(new Set(assets.slice(0, 2))).toEqual(new Set(["img_0", "img_1"]));
  });
});

it("suggested searches take labels, phrases and words in turn, each once", () => {
  const segments = segmentsOf(
    { labels: ["dog"], text: "Lantern" },
    { labels: ["cup"], speech: "A chalk portrait." },
  );
  expect(textsOf(suggestSearches(segments, vocabulary))).toEqual([
    "dog",
    "chalk portrait",
    "lantern",
    "cup",
  ]);
});

describe("a suggested question", () => {
  it.each([
    ["My grandfather built the cabin alone.", "Who built the cabin?"],
    ["She wrote a letter.", "Who wrote a letter?"],
    ["A woman dressed in blue jeans rides a brown horse near a lake.", "Who rides a brown horse?"],
    ["A girl splashes in the shallow water.", "Who splashes in the shallow water?"],
    ["A black dog is running through the field .", "What is running through the field?"],
    ["The people are here.", null],
    ["It rained.", null],
    ["They keep attempting it.", null],
    ["Near the house a man waits.", null],
    ["La femme monte le cheval.", null],
    ["", null],
  ])("of %j is %j", (sentence, expected) => {
    expect(formQuestion(sentence, vocabulary)).toBe(expected);
  });

  it("names its source, and one of each asset comes first", () => {
    const segments = segmentsOf(
      { speech: "A man holds a flag. A girl splashes in the shallow water." },
      { speech: "My grandfather built the cabin." },
    );
    expect(suggestQuestions(segments, vocabulary)).toEqual([
      { text: "Who holds a flag?", assetId: "img_0" },
      { text: "Who built the cabin?", assetId: "img_1" },
      { text: "Who splashes in the shallow water?", assetId: "img_0" },
    ]);
  });
});
