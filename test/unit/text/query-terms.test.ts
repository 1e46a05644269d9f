import { describe, expect, it } from "vitest";
import { matchFields, termCoverage } from "../../../src/search/evidence.ts";
import { compileQuery, parseQuery } from "../../../src/search/query.ts";
import { FTS_COLUMNS } from "../../../src/store/index-database/fulltext.ts";
import { guessLanguage } from "../../../src/text/languages.ts";
import { QueryTerms } from "../../../src/text/query-terms.ts";

const emptyFields = {
  captionModel: null,
  speechBefore: "",
  speechAfter: "",
  caption: "",
  transcript: "",
  onScreenText: "",
  labels: [],
  boxes: [],
  language: null,
};

describe("query terms", () => {
  it.each<[string[], string, string[]]>([
    [["dog"], "Dogs, a dog and dogma", ["Dogs", "dog"]],
    [["dog", "dogs"], "a dog", ["dog"]],
    [["running"], "He runs. She ran.", ["runs", "ran"]],
    [["cafe"], "Ein CAFÉ in Köln", ["CAFÉ"]],
    [["happy"], "happiness of a happy man", ["happiness", "happy"]],
    [["東京"], "東京都庁 and 東西京", ["東京"]],
    [["กรุงเทพ"], "ในกรุงเทพฯ วันนี้", ["กรุงเทพ"]],
    [["dont"], "don't, don’t", ["don't", "don’t"]],
    [["sea"], "", []],
    [["!"], "wow!", []],
    [[], "anything", []],
  ])("%j match in %j: %j", (words, text, found) => {
    const matches = new QueryTerms(words).findMatches(text);
    expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual(found);
  });

  it("of a query are its first 64 words, however long compatibility makes it", () => {
    const many = Array.from({ length: 300 }, (_, at) => `w${at}`);
    expect(compileQuery(many.join(" ")).words).toEqual(many.slice(0, 64));
    expect(compileQuery("ﷺ".repeat(2000)).plainText).toHaveLength(2000);
  });

  it.each(['תנ"ך', "п'ять", "Müller's", "d’été", "#Été2024", 'å"b'])(
    "of %s have no quotation marks, which would end a term of the full text",
    (query) => {
      const { words, plainText } = parseQuery(query);
      expect(new QueryTerms(words, plainText).forms.join(" ")).not.toMatch(/["'’״]/);
    },
  );

  it.each([
    ["a dog in the snow man's house", "Der Schneesmann", "de", false],
    ["a dog in the snow man's house", "The snowman", "en", true],
    ["Schnee Mann", "Der Schneemann", "de", true],
    ["der Weihnacht Baum und der Garten", "Ein Weihnachtsbaum", "de", true],
  ] as const)(
    "of %s are joined as its likely languages do: %s",
    (query, text, language, isFound) => {
      const terms = new QueryTerms(query.split(" "), query);
      expect(terms.findMatches(text, language).length > 0).toBe(isFound);
    },
  );

  it("count a little less in another form than as written", () => {
    const coverage = (caption: string) =>
      termCoverage(
        matchFields({ ...emptyFields, caption }, new QueryTerms(["women"]), {
          columns: FTS_COLUMNS,
          useBoxLabels: false,
        }),
        [3],
      );
    expect(coverage("Women!")).toBe(1);
    expect(coverage("a woman")).toBeLessThan(1);
    expect(coverage("a woman")).toBeGreaterThan(0.99);
  });

  it.each([
    ["life jacket", "a lifejacket", ["lifejacket", "lifejacket"]],
    ["railwaystation", "the railway station", ["railway station"]],
    ["email", "by e-mail", ["e-mail"]],
    ["e-mail", "my email", ["email"]],
    ["LH1234", "flight LH-1234", ["LH-1234"]],
    ["universe", "a university", []],
    ["C++", "20 °C, or C++", ["C++"]],
    ["minus 40", "It was at -40 last night", ["-", "40"]],
    ["21", "All twenty one of them", ["twenty one"]],
    ["million", "two million people", ["million"]],
    ["onboard", "they were on board", ["on board"]],
    ["on board", "a band onboard", ["onboard"]],
    ["bacteria", "one bacterium", ["bacterium"]],
    ["blue", "a blu ray", []],
    ["5 pm", "five pumps at 17:00", ["17:00"]],
    ["leicht", "Die Leiche liegt unter der Brücke", []],
    ["danser", "Elle danse avec lui dans la forêt", ["danse"]],
    ["dans", "Elle danse avec lui dans la forêt", ["dans"]],
    ["kinder garten", "Der Kindergarten ist zu", ["Kindergarten", "Kindergarten"]],
    ["40 kg", "40kg or 40 kilograms", ["40kg", "40 kilograms"]],
    ["20°C", "20 degrees Celsius", ["20 degrees Celsius"]],
    ["图书馆", "圖書館", ["圖書", "館"]],
    ["being", "He is here, being late", ["being"]],
    ["having", "She has had it", []],
    ["doing", "What did he do?", []],
    ["is", "They are there; it is", ["is"]],
  ])("of %s match in %s: %j", (query, text, found) => {
    const { words, plainText } = parseQuery(query);
    const matches = new QueryTerms(words, plainText).findMatches(text, guessLanguage(text));
    expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual(found);
  });

  it("of one letter weigh nothing, and of two letters half", () => {
    const frequencies = { total: 100, byStem: new Map() };
    expect(new QueryTerms(["t"]).weights(frequencies)).toEqual([0]);
    const [abbreviation, word] = new QueryTerms(["tv", "tower"]).weights(frequencies);
    expect(abbreviation).toBe(word! / 2);
    expect(new QueryTerms(["c++"]).weights(frequencies)[0]).toBeGreaterThan(1);
    expect(new QueryTerms(["猫"]).weights(frequencies)[0]).toBeGreaterThan(1);
  });

  it("with the same stem are one term", () => {
    expect(new QueryTerms(["dog", "dogs", "cat"]).count).toBe(2);
    const terms = new QueryTerms(["cat", "dog"]);
    expect(terms.findMatches("dogs chase cats").map(({ term }) => term)).toEqual([1, 0]);
  });

  it("weigh more, the fewer segments contain them", () => {
    const terms = new QueryTerms(["dogs", "kite", "東京"]);
    const stems = terms.tokens.map(({ stem }) => stem);
    expect(stems.slice(0, 4)).toEqual(["dog", "kite", "东", "京"]);
    const byStem = new Map([
      ["dog", 99],
      ["东", 50],
      ["京", 0],
    ]);
    const [dog, kite, tokyo] = terms.weights({ total: 100, byStem });
    expect(dog).toBeGreaterThan(0);
    expect(kite).toBeGreaterThan(100 * dog!);
    expect(tokyo).toBe(kite);
    expect(new Set(terms.weights({ total: 0, byStem: new Map() })).size).toBe(1);
  });
});

describe("a number of a query", () => {
  it.each([
    ["iphone 12", "Unpacking the iPhone 11.", true],
    ["iphone 12", "Unpacking the iPhone 12.", false],
    ["iphone 12", "Unpacking an iPhone.", false],
    ["twelve eggs", "A box of 10 eggs.", true],
    ["eggs", "A box of 10 eggs.", false],
  ])("in %s has another one in its place in %s: %s", (query, text, expected) => {
    const { terms } = compileQuery(query);
    expect(terms.hasOtherNumber(text, terms.findMatches(text))).toBe(expected);
  });

  it.each([
    ["Four people.", [true, undefined]],
    ["4 people.", [true, undefined]],
    ["The forecourt with people.", [undefined]],
  ])("finds numbers as numbers in %s", (text, expected) => {
    const matches = new QueryTerms(["four", "people"]).findMatches(text);
    expect(matches.map(({ isNumber }) => isNumber)).toEqual(expected);
  });
});
