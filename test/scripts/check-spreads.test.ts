import { expect, it } from "vitest";
import { findSpreads } from "../../scripts/check-spreads.ts";
import { append, maxOf, minOf } from "../../src/lists.ts";

const find = (text: string) => findSpreads(new Map([["src/a.ts", text]]));

it.each(["Math.max(0, ...list);", "a.b.push(...list);", "text\n  .concat(...lists);"])(
  "a list that is spread into a call of any length is reported: %s",
  (text) => {
    expect(find(text)).toEqual([expect.stringContaining("src/a.ts:1 spreads a list")]);
  },
);

it.each(["Math.max(a, b);", "list.push(item);", "makeBox(type, ...parts);", "[...list];"])(
  "other calls and lists aren't: %s",
  (text) => {
    expect(find(text)).toEqual([]);
  },
);

it("a list of a million numbers has a greatest and a least, and can be added", () => {
  const numbers = Array.from({ length: 1_000_000 }, (_, i) => i);
  const list = [-1];
  append(list, numbers);
  expect([maxOf(list), minOf(list), list.length]).toEqual([999_999, -1, 1_000_001]);
  expect([maxOf([], 0), minOf([]), maxOf([NaN, 1])]).toEqual([0, Infinity, NaN]);
});
