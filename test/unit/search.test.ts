import { describe, expect, it } from "vitest";
import { evidenceOfWords, mergeEvidence } from "../../src/search/evidence.ts";
import { fuse } from "../../src/search/fuse.ts";
import { anyOf, foldPlural, tellingWords, wordsOf } from "../../src/search/query.ts";
import { type Mode, scopeOf } from "../../src/search/request.ts";

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
      const expression = anyOf(wordsOf(text));
      expect(expression ?? "").toMatch(/^("[\p{L}\p{N}]+"( OR )?)*$/u);
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

describe("modes", () => {
  const all: Mode[] = ["visual", "speech", "text"];
  it.each<[Mode[], string[], string[]]>([
    [[], ["video", "image"], ["caption", "speech", "text"]],
    [["image"], ["image"], ["caption", "speech", "text"]],
    [["video", "speech"], ["video"], ["speech"]],
    [all, ["video", "image"], ["caption", "speech", "text"]],
  ])("%j leave %j and %j", (modes, types, vectors) => {
    expect(scopeOf(modes)).toMatchObject({ types, vectors });
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
