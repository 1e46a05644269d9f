import { expect, it } from "vitest";
import { cleanTitle } from "../../src/asset-names.ts";

it.each([
  ["holiday.mp4", "holiday.mp4"],
  ["line\r\nbreak\u0000.mp4", "line break .mp4"],
  ["photo\u202Egpj.exe", "photogpj.exe"],
  ["\u2066a\u2069\u200F\u061Cb", "ab"],
  ["\u202E\r\n ", ""],
  ["half \uD83D", "half \uFFFD"],
  ["Ελλάδα 日本 🎬.mov", "Ελλάδα 日本 🎬.mov"],
  ["x".repeat(400), "x".repeat(300)],
])("%j becomes the title %j", (text, title) => {
  expect(cleanTitle(text)).toBe(title);
});
