import { describe, expect, it } from "vitest";
import { cleanTitle } from "../../src/asset-names.ts";
import {
  cleanText,
  lineOfText,
  toJsonLine,
  toOneLine,
  toVisibleText,
} from "../../src/clean-text.ts";
import { formatEdl } from "../../src/exports/edl.ts";
import { cutOf, listOf } from "../support/cut-lists.ts";
import { INVISIBLE_TEXTS, isVisible, LINE_END } from "../support/invisible-text.ts";

const FLAG = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";

describe.each(INVISIBLE_TEXTS)("%j", (text) => {
  it.each([
    toOneLine,
    cleanTitle,
    cleanText,
    toVisibleText,
    (one: string) => lineOfText(99).parse(one),
  ])("has only visible characters, and its words, after %s", (clean) => {
    expect(isVisible(clean(text))).toBe(true);
    expect(clean(text)).toMatch(/^cat\s?(?:\u{1F3F4})?cat$/u);
  });

  it("is on one line of an edit list", () => {
    const list = listOf([cutOf({ title: text }, 0, 1000)], { title: text }, true);
    const lines = formatEdl(list).split(LINE_END);
    expect(lines).toHaveLength(6);
    expect(lines.every(isVisible)).toBe(true);
  });

  it("is on one line of JSON, which has it as it is", () => {
    const line = toJsonLine({ text });
    expect(line).not.toMatch(LINE_END);
    expect(line).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(line)).toEqual({ text });
  });
});

it.each([
  ["👩‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 1️⃣", "emoji of several characters"],
  [
    `${FLAG} ${FLAG.replace("\u{E0065}\u{E006E}\u{E0067}", "\u{E0073}\u{E0063}\u{E0074}")}`,
    "flags",
  ],
  ["می‌خواهم", "a joiner of Persian"],
  ["क्‍ष", "a joiner of Hindi"],
  ["葛\u{E0100}城", "a variant of a character"],
  ["ᠮᠣᠩᠭᠣᠯ᠎ᠠ", "Mongolian"],
  ["a  b", "two spaces"],
])("%s stays as it is: %s", (text) => {
  expect(toOneLine(text)).toBe(text);
});

it.each([
  ["a\u{E0100}\u{E0101}\u{E0102}b", "a\u{E0100}b"],
  ["a\u200D\u200C\u200Db", "a\u200Db"],
  ["a\uFE0F\uFE0Fb", "a\uFE0Fb"],
  ["a\u200D\uFE0F\u200D\uFE0Fb", "a\u200D\u200Db"],
])("data that is spelled with selectors and joiners is left out: %j", (text, clean) => {
  expect(toOneLine(text)).toBe(clean);
});

it("lines of a text stay, but as one kind of line", () => {
  expect(toVisibleText("a\r\nb\u2028c\u0085d\te\n\nf")).toBe("a\nb\nc\nd\te\n\nf");
  expect(cleanText(" a \r\n\u2029 b  c\v")).toBe("a\nb c");
});
