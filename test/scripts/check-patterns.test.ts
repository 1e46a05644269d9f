import { expect, it } from "vitest";
import { findSlowPatterns } from "../../scripts/check-patterns.ts";

const find = (text: string) => findSlowPatterns(new Map([["src/a.ts", text]]));

it.each([
  ["exponential", String.raw`const pattern = /^(?:<!--[^]*?-->|\s)*<svg/;`],
  ["exponential", String.raw`const pattern = /^(?:a\w*:\S+\s*)+$/u;`],
  ["more than linear", String.raw`text.replace(/\s+$/, "");`],
  ["more than linear", 'const slow = new RegExp(String.raw`^\\s*\\s*x`, "i");'],
  ["more than linear", "const WORD = 'a+'; const slow = new RegExp(`${WORD}${WORD}b`);"],
])("a pattern of %s time is reported: %s", (kind, text) => {
  expect(find(text)).toEqual([expect.stringContaining(`src/a.ts:1 has a pattern of ${kind} time`)]);
});

it.each([
  String.raw`const pattern = /^\d{1,3}(?:[.,]\d{1,3})?$/;`,
  String.raw`const pattern = /^[^>]*>/;`,
  String.raw`// bounded: a title has at most 300 characters
const pattern = /\s+$/;`,
  String.raw`const pattern = /\s+$/; // bounded: a title has at most 300 characters`,
  "const pattern = new RegExp(text);",
])("a pattern of linear time, or of a short text, is allowed: %s", (text) => {
  expect(find(text)).toEqual([]);
});

it("a comment may speak of all patterns of a file", () => {
  expect(find("// bounded in this file: a title\n\nconst pattern = /a+$/;")).toEqual([]);
});

it("a comment that doesn't say what bounds the text excuses nothing", () => {
  expect(find("// bounded:\nconst pattern = /a+$/;")).toHaveLength(1);
});
