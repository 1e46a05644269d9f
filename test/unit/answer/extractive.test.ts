import { describe, expect, it } from "vitest";
import { quoteByWords, type SourceText } from "../../../src/answer/extractive.ts";

const sourcesOf = (...texts: Partial<SourceText>[]): Map<number, SourceText> =>
  new Map(texts.map((text, i) => [i + 1, { speech: "", onScreenText: "", caption: "", ...text }]));

describe("quotes in the words of a question", () => {
  it("are verbatim sentences with most of its terms", () => {
    const speech = "We met in May. The budget is forty euros! Then we left.";
    expect(quoteByWords("How large is the budget in euros?", sourcesOf({ speech }))).toEqual([
      { sentence: "The budget is forty euros!", marker: 1 },
    ]);
  });

  it("are at most one of each source, and only the best", () => {
    const texts = ["A cat. A dog.", "A red dog ran. A red dog sat.", "A dog."];
    const sources = sourcesOf(...texts.map((speech) => ({ speech })));
    expect(quoteByWords("red dogs", sources)).toEqual([{ sentence: "A red dog ran.", marker: 2 }]);
  });

  it("are at most three, none twice, from the best sources", () => {
    const texts = ["A dog ran.", "A dog ran.", "A dog sat.", "A dog ate.", "A dog slept."];
    const sources = sourcesOf(...texts.map((speech) => ({ speech })));
    expect(quoteByWords("dogs", sources).map(({ marker }) => marker)).toEqual([1, 3, 4]);
  });

  it.each<[Partial<SourceText>, string]>([
    [{ speech: "The ferry to Oban leaves at noon." }, "The ferry to Oban leaves at noon."],
    [{ onScreenText: "FERRY\nto Oban\nat noon" }, "FERRY to Oban at noon"],
    [{ caption: "A ferry to Oban." }, "A ferry to Oban."],
  ])("come from %j", (text, sentence) => {
    expect(quoteByWords("What about the ferry to Oban?", sourcesOf(text))).toEqual([
      { sentence, marker: 1 },
    ]);
  });

  it.each([
    ["How long is the ferry to Oban?", "The ferry to Oban takes an hour.", true],
    ["How long is the ferry to Iona?", "The ferry to Oban takes an hour.", false],
    ["When was the ferry to Oban built?", "The ferry to Oban takes an hour.", false],
    ["Which colour has the boat of Ann?", "The boat that Ann has is red.", true],
    ["What kind of boats does Ann build?", "Ann builds rowing boats.", true],
    ["What does Mr. Okafor water?", "Mr. Okafor waters the tomatoes.", true],
    ["What does Mrs. Anders water?", "Mr. Okafor waters the tomatoes.", false],
    ["What does the boy play?", "A girl plays the cello.", false],
    ["What is next to the clock?", "A clock and a potted plant.", true],
    ["What happened in 1999?", "In 1998 the bridge fell.", false],
    ["What is said about the bridge?", "In 1998 the bridge fell.", true],
    ["Wohnt der Wärter im Turm?", "Der Wärter wohnt im Turm.", true],
    ["Wie hieß der Lehrer?", "Der Lehrer hieß Anton Gruber.", true],
    ["red dogs", "A dog.", false],
  ])("to %j quote %j: %s", (question, speech, isQuoted) => {
    expect(quoteByWords(question, sourcesOf({ speech }))).toHaveLength(isQuoted ? 1 : 0);
  });

  it("are none without sources", () => {
    expect(quoteByWords("anything", new Map())).toEqual([]);
  });
});
