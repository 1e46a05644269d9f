import { expect, it } from "vitest";
import { formatJson, sanitizeLine, sanitizeText } from "../../../../client/src/cli/sanitize.ts";
import { INVISIBLE_TEXTS, isVisible, LINE_END } from "../../../support/invisible-text.ts";

it.each(INVISIBLE_TEXTS)("the command line prints and writes %j as one line to see", (text) => {
  for (const clean of [sanitizeLine, sanitizeText]) {
    expect(isVisible(clean(text))).toBe(true);
    expect(clean(text)).not.toMatch(LINE_END);
  }
  const json = formatJson({ text });
  expect(isVisible(json)).toBe(true);
  expect(JSON.parse(json)).toEqual({ text });
});

it("emoji of several characters stay as they are", () => {
  expect(sanitizeLine("👩‍👩‍👧‍👦 ❤️‍🔥 می‌خواهم")).toBe("👩‍👩‍👧‍👦 ❤️‍🔥 می‌خواهم");
});
