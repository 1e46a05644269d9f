import { describe, expect, it } from "vitest";
import data from "../../../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../../../local/engine/quotes/lexicon.ts";

const lexicon = new Lexicon(data);

describe("the lexicon", () => {
  it.each([
    ["boat", "ferry", true],
    ["depart", "leaves", true],
    ["colour", "color", true],
    ["animals", "dog", true],
    ["practise", "rehearses", true],
    ["singer", "sang", true],
    ["owner", "owns", true],
    ["dog", "cat", false],
    ["boat", "piano", false],
    ["thing", "dog", false],
    ["xyzzy", "dog", false],
  ])("relates %j and %j: %s", (a, b, isRelated) => {
    const relation = lexicon.relation(a, b);
    if (isRelated) expect(relation).toBeGreaterThanOrEqual(0.5);
    else expect(relation).toBe(0);
  });

  it("relates a special word less to a more general one than the other way round", () => {
    expect(lexicon.relation("animal", "dog")).toBeGreaterThan(0.5);
    expect(lexicon.relation("dog", "animal")).toBeLessThan(lexicon.relation("animal", "dog"));
  });

  it.each([
    ["breed", true],
    ["song", true],
    ["dog", false],
    ["harbour", false],
  ])("knows whether %j names nothing that can be touched: %s", (word, isAbstract) => {
    expect(lexicon.isAbstract(word)).toBe(isAbstract);
  });

  it.each([
    ["dogs", "animal", true],
    ["women", "person", true],
    ["truck", "vehicle", true],
    ["dog", "person", false],
    ["green", "animal", false],
  ])("knows whether %j is a kind of %j: %s", (word, general, isKind) => {
    expect(lexicon.isKindOf(word, general)).toBe(isKind);
  });

  it.each([
    ["ran", "verb"],
    ["houses", "noun"],
    ["bigger", "adjective"],
    ["slowly", null],
    ["xyzzy", null],
  ])("knows that %j is mostly a %s", (word, wordClass) => {
    expect(lexicon.mainClass(word)).toBe(wordClass);
  });
});
