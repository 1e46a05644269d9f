import { describe, expect, it } from "vitest";
import { newId, ours, type SegmentId } from "../../src/ids.ts";
import { collapse, type Showing } from "../../src/search/collapse.ts";
import {
  evidenceOfPassage,
  findPassages,
  mergeEvidence,
  toldShareOf,
} from "../../src/search/evidence.ts";
import { excerptOf } from "../../src/search/excerpt.ts";
import { foldPlural, parseQuery, tellingWords, wordsOf } from "../../src/search/query.ts";
import { type Mode, scopeOf } from "../../src/search/request.ts";
import { Terms } from "../../src/search/terms.ts";
import { allOf, anyOf, toIndexed, wantedBy, WORD_COLUMNS } from "../../src/store/words.ts";

describe("near-duplicates", () => {
  const showing = (segmentId: string, look: number[] | null, transcript = "") => {
    return {
      segment: { segmentId: ours<SegmentId>(segmentId), transcript, onScreenText: "" },
      look,
    };
  };
  it.each<[string, Showing[], Record<string, string[]>]>([
    ["the same twice", [showing("a", [5, 9]), showing("b", [5, 9])], { a: ["b"] }],
    ["nearly the same", [showing("a", [5, 9]), showing("b", [4, 8])], { a: ["b"] }],
    ["another picture", [showing("a", [5, 9]), showing("b", [2, 9])], { a: [], b: [] }],
    ["flat ones", [showing("a", null), showing("b", null)], { a: [], b: [] }],
    ["other words", [showing("a", [5, 9], "one"), showing("b", [5, 9])], { a: [], b: [] }],
    ["the same words", [showing("a", [5], "Yes!"), showing("b", [5], "yes")], { a: ["b"] }],
    ["more than two", ["a", "b", "c"].map((id) => showing(id, [1])), { a: ["b", "c"] }],
  ])("become one: %s", (_, showings, left) => {
    const shown = collapse(showings, () => false);
    const named = shown.map(({ candidate, duplicates }) => [
      candidate.segment.segmentId,
      duplicates,
    ]);
    expect(Object.fromEntries(named)).toEqual(left);
  });

  it("stay where they are wanted", () => {
    const both = [showing("a", [5]), showing("b", [5])];
    expect(collapse(both, () => true).map(({ candidate }) => candidate)).toEqual(both);
  });
});

describe("the words of a query", () => {
  it.each([
    ["The dog's café, 2024!", ["the", "dog", "s", "cafe", "2024"]],
    ["ÜBER über", ["uber"]],
    ["東京 タワー", ["東京", "タワー"]],
    ["红色汽车, 猫が กินข้าว", ["红色", "汽车", "猫", "が", "กิน", "ข้าว"]],
    ["«»—!?", []],
  ])("of %s", (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it("leave out those that tell nothing, unless there are no others", () => {
    expect(tellingWords("where is the red cup")).toEqual(["red", "cup"]);
    expect(tellingWords("to be or not to be")).toEqual(["to", "be", "or", "not"]);
  });

  it.each(['"', "a AND", "NOT", "a* OR (b", "caption:x", "NEAR(a b)", "-", "^a", "'; DROP TABLE"])(
    "never become FTS5 syntax: %s",
    (text) => {
      const { phrases, excluded } = parseQuery(text);
      for (const one of [wantedBy(parseQuery(text)), allOf(phrases), anyOf(excluded)]) {
        expect(one ?? "").toMatch(/^[()]*(\(?"[\p{L}\p{N} ]+"\)?( OR | AND )?)*$/u);
      }
    },
  );

  it.each([
    ["dogs", "dog"],
    ["dog", "dog"],
    ["buses", "bus"],
    ["glass", "glass"],
    ["boxes", "box"],
    ["bus", "bus"],
    ["people", "people"],
  ])("fold %s to %s", (word, folded) => {
    expect(foldPlural(word)).toBe(folded);
  });
});

describe("a query", () => {
  it.each<[string, object]>([
    ["red cup", { plain: "red cup", words: ["red", "cup"], phrases: [], excluded: [] }],
    ['the "red cup" falls', { plain: "the red cup falls", phrases: [["red", "cup"]] }],
    ["“red cup”", { plain: "red cup", phrases: [["red", "cup"]] }],
    ["dog -cat", { plain: "dog", words: ["dog"], excluded: [["cat"]] }],
    ['dog -"black cat"', { plain: "dog", excluded: [["black", "cat"]] }],
    ["well-known place", { plain: "well-known place", excluded: [] }],
    ["a - b", { plain: "a - b", excluded: [] }],
    ['5" pipe', { plain: '5" pipe', phrases: [] }],
    ["-cat", { plain: "-cat", words: ["cat"], excluded: [] }],
    ["東京タワー -雨", { plain: "東京タワー", words: ["東京タワー"], excluded: [["雨"]] }],
  ])("%s is understood", (text, parsed) => {
    expect(parseQuery(text)).toMatchObject(parsed);
  });

  it("beside something to be like may leave out alone", () => {
    const nothing = { plain: "", words: [], phrases: [], excluded: [["cat"]] };
    expect(parseQuery("-cat", false)).toEqual(nothing);
    expect(parseQuery("dog -cat", false)).toEqual(parseQuery("dog -cat"));
  });

  it.each([
    ["red cup", '"red" OR "cup"'],
    ['"red cup" falls', '("red cup") AND ("red" OR "cup" OR "falls" OR "red cup")'],
    ["東京", '"東 京"'],
    ["กรุงเทพ", '"ก ร ง เ ท พ"'],
    ["Suica東京", '"suica" OR "東 京"'],
    ['"红色汽车"', '("红 色 汽 车") AND ("红 色" OR "汽 车" OR "红 色 汽 车")'],
    ["!?", null],
  ])("%s becomes an expression", (text, expression) => {
    expect(wantedBy(parseQuery(text))).toBe(expression);
  });

  it("finds words in scripts without spaces, and leaves the others as they are", () => {
    expect(toIndexed("東京 tower")).toBe("東\u200B京\u200B tower\u200B");
    expect(toIndexed("naïve café")).toBe("naïve café");
    expect(toIndexed("ＴＶ show")).toBe("ＴＶ show\u2063TV show");
  });
});

describe("modes", () => {
  const all: Mode[] = ["visual", "speech", "text"];
  it.each<[Mode[], string[], string[]]>([
    [[], ["video", "image"], ["caption", "speech", "text"]],
    [["image"], ["image"], ["caption", "speech", "text"]],
    [["video", "speech"], ["video"], ["speech"]],
    [all, ["video", "image"], ["caption", "speech", "text"]],
  ])("%j leave %j and %j", (modes, types, vectors) => {
    const all = { modes, assetIds: [], conditions: [], readyBy: 1, useBoxes: false };
    expect(scopeOf(newId("ind"), all)).toMatchObject({ assets: { types }, vectors });
  });
});

const nothing = { caption: "", transcript: "", onScreenText: "", labels: [], boxes: [] };

describe("terms", () => {
  it.each<[string[], string, string[]]>([
    [["dog"], "Dogs, a dog and dogma", ["Dogs", "dog"]],
    [["dog", "dogs"], "a dog", ["dog"]],
    [["running"], "He runs. She ran.", ["runs"]],
    [["cafe"], "Ein CAFÉ in Köln", ["CAFÉ"]],
    [["happy"], "happiness of a happy man", ["happiness", "happy"]],
    [["東京"], "大東京都 and 東西京", ["東京"]],
    [["กรุงเทพ"], "ในกรุงเทพฯ วันนี้", ["กรุงเทพ"]],
    [["t", "don"], "don't", ["don", "t"]],
    [["sea"], "", []],
    [["!"], "wow!", []],
    [[], "anything", []],
  ])("%j in %j are %j", (words, text, found) => {
    const matches = new Terms(words).findIn(text);
    expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual(found);
  });

  it("are told apart by their stems", () => {
    expect(new Terms(["dog", "dogs", "cat"]).count).toBe(2);
    const terms = new Terms(["cat", "dog"]);
    expect(terms.findIn("dogs chase cats").map(({ term }) => term)).toEqual([1, 0]);
  });

  it("tell the more the fewer segments hold them", () => {
    const terms = new Terms(["dogs", "kite", "東京"]);
    expect(terms.tokens.map(({ stem }) => stem)).toEqual(["dog", "kite", "東", "京"]);
    const holding = new Map([
      ["dog", 99],
      ["東", 50],
      ["京", 0],
    ]);
    const [dog, kite, tokyo] = terms.weights({ total: 100, holding });
    expect(dog).toBeGreaterThan(0);
    expect(kite).toBeGreaterThan(100 * dog!);
    expect(tokyo).toBe(kite);
    expect(new Set(terms.weights({ total: 0, holding: new Map() })).size).toBe(1);
  });
});

describe("excerpts", () => {
  const excerpt = (words: string[], text: string) => excerptOf(text, new Terms(words).findIn(text));
  const filler = "word ".repeat(100);

  it.each([
    [["dog"], "a <b> & dog", "a &lt;b&gt; &amp; <mark>dog</mark>"],
    [["dog"], "", ""],
    [["東京", "京都"], "東京都", "<mark>東京</mark>都"],
  ])("of %j in %j: %s", (words, text, html) => {
    expect(excerpt(words, text)).toBe(html);
  });

  it("of a long text are where most of the words stand", () => {
    const html = excerpt(["dog", "cat"], `dog ${filler}a cat and a dog ${filler}`);
    expect(html).toMatch(/^…(word )+a <mark>cat<\/mark> and a <mark>dog<\/mark> (word )+word…$/);
    expect(html.length).toBeLessThan(300);
  });

  it.each([
    ["starts", `dog ${filler}`, /^<mark>dog<\/mark> .*word…$/],
    ["ends", `${filler}dog`, /^…word .*<mark>dog<\/mark>$/],
    ["has no spaces", `${"水".repeat(300)}東京`, /^…水+<mark>東京<\/mark>$/],
  ])("of a long text that %s with the word", (_, text, pattern) => {
    expect(excerpt(["dog", "東京"], text)).toMatch(pattern);
  });

  it("show a match that is longer than an excerpt", () => {
    const word = "x".repeat(300);
    expect(excerpt([word], `${word} ${word}`)).toBe(`<mark>${word}</mark>…`);
  });
});

describe("evidence", () => {
  const all = { columns: WORD_COLUMNS, boxes: false };
  const terms = new Terms(["dog", "sand", "sea", "kite"]);

  it("says what share of the words is shown, said and written, and told in all", () => {
    const caption = "a dog on the sand";
    const transcript = "Look at the sea and the sand";
    const passages = findPassages(
      { ...nothing, caption, transcript, labels: ["dogs"] },
      terms,
      all,
    );
    expect(toldShareOf(passages, [1, 1, 2, 4])).toBe(0.5);
    expect(passages.map((passage) => evidenceOfPassage(passage, terms))).toEqual([
      { kind: "caption", score: 0.5, text: "a <mark>dog</mark> on the <mark>sand</mark>" },
      {
        kind: "speech",
        score: 0.5,
        text: "Look at the <mark>sea</mark> and the <mark>sand</mark>",
      },
      { kind: "visual", score: 0.25, text: "<mark>dogs</mark>" },
    ]);
  });

  it("leaves out columns that don't count, and is silent where nothing matches", () => {
    const segment = { ...nothing, caption: "a dog", onScreenText: "No kites" };
    const written = findPassages(segment, terms, { columns: ["on_screen_text"], boxes: false });
    const weights = [1, 1, 1, 5];
    expect(toldShareOf(written, weights)).toBe(0.625);
    expect(toldShareOf(findPassages(nothing, terms, all), weights)).toBe(0);
  });

  it("is one piece a kind, the strongest first", () => {
    const merged = mergeEvidence([
      { kind: "speech", score: 0.3 },
      { kind: "caption", score: 0.5 },
      { kind: "speech", score: 0.2, text: "<mark>x</mark>" },
    ]);
    expect(merged).toEqual([
      { kind: "caption", score: 0.5 },
      { kind: "speech", score: 0.3, text: "<mark>x</mark>" },
    ]);
  });
});
