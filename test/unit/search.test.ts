import { describe, expect, it } from "vitest";
import { evidenceOfWords, mergeEvidence } from "../../src/search/evidence.ts";
import { fuse } from "../../src/search/fuse.ts";
import { foldPlural, parseQuery, tellingWords, wantedBy, wordsOf } from "../../src/search/query.ts";
import { type Mode, scopeOf } from "../../src/search/request.ts";
import { allOf, anyOf, spaceOut } from "../../src/store/words.ts";

describe("fusion by reciprocal rank", () => {
  it.each<[string, string[][], string[]]>([
    ["nothing", [[], []], []],
    ["one ranking", [["a", "b"], []], ["a", "b"]],
    [
      "agreement over a single first place",
      [
        ["a", "b"],
        ["c", "b"],
      ],
      ["b", "a", "c"],
    ],
    ["ties by id", [["b"], ["a"]], ["a", "b"]],
  ])("orders %s", (_, rankings, ids) => {
    const equal = rankings.map((ranking) => ({ ids: ranking, weight: 1 }));
    expect(fuse(equal).map(({ id }) => id)).toEqual(ids);
  });

  it("scores 1 for the first place everywhere, and never grows down the list", () => {
    const fused = fuse([
      { ids: ["a", "b", "c"], weight: 1 },
      { ids: ["a", "c", "d"], weight: 0.5 },
    ]);
    expect(fused[0]).toEqual({ id: "a", score: 1 });
    const scores = fused.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((x, y) => y - x));
    expect(scores.at(-1)).toBeGreaterThan(0);
  });
});

it("a ranking counts by its weight", () => {
  const [first, second] = fuse([
    { ids: ["a"], weight: 1 },
    { ids: ["b"], weight: 0.5 },
  ]);
  expect(first).toEqual({ id: "a", score: expect.closeTo(2 / 3) });
  expect(second).toEqual({ id: "b", score: expect.closeTo(1 / 3) });
});

describe("the words of a query", () => {
  it.each([
    ["The dog's café, 2024!", ["the", "dog", "s", "cafe", "2024"]],
    ["ÜBER über", ["uber"]],
    ["東京 タワー", ["東京", "タワー"]],
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

  it.each([
    ["red cup", '"red" OR "cup"'],
    ['"red cup" falls', '("red cup") AND ("red" OR "cup" OR "falls" OR "red cup")'],
    ["東京", '"東 京"'],
    ["กรุงเทพ", '"ก ร ง เ ท พ"'],
    ["!?", null],
  ])("%s becomes an expression", (text, expression) => {
    expect(wantedBy(parseQuery(text))).toBe(expression);
  });

  it("finds words in scripts without spaces, and leaves the others as they are", () => {
    expect(spaceOut("東京 tower")).toBe("東\u200B京\u200B tower");
    expect(spaceOut("naïve café")).toBe("naïve café");
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
    const all = { modes, assetIds: [], conditions: [], readyBy: 1 };
    expect(scopeOf("ind_1", all)).toMatchObject({ assets: { types }, vectors });
  });
});

describe("evidence", () => {
  const none = { caption: "", transcript: "", on_screen_text: "", labels: "" };

  it("marks what matched and escapes the rest", () => {
    const transcript = "a <b> & \u0001dog\u0002";
    const hit = { segmentId: "s", snippets: { ...none, transcript } };
    expect(evidenceOfWords(hit, 2)).toEqual([
      { kind: "speech", score: 0.5, text: "a &lt;b&gt; &amp; <mark>dog</mark>" },
    ]);
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
