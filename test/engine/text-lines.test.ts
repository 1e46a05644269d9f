import { describe, expect, it } from "vitest";
import type { TextRegion } from "../../local/engine/text-detection.ts";
import { groupLines, mergeLine } from "../../local/engine/text-lines.ts";

const regionAt = (left: number, top: number, width = 80, height = 20): TextRegion => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

const recognized = (text: string, left: number, width: number) => ({
  text,
  score: 0.9,
  region: regionAt(left, 0, width),
});

describe("reading order", () => {
  it("is top to bottom and, within a row, left to right", () => {
    const [a, b, c, d] = [regionAt(10, 10), regionAt(200, 14), regionAt(10, 60), regionAt(200, 56)];
    expect(groupLines([d, b, c, a])).toEqual([
      [a, b],
      [c, d],
    ]);
  });

  it("separates close lines", () => {
    const lines = [regionAt(30, 0), regionAt(20, 18), regionAt(10, 36)];
    expect(groupLines(lines.toReversed())).toEqual(lines.map((line) => [line]));
  });
});

describe("a row of text regions", () => {
  it("is merged where only a space separates words", () => {
    const merged = mergeLine([
      recognized("Emergency", 0, 90),
      recognized("exit", 95, 40),
      recognized("Floor 2", 200, 70),
    ]);
    expect(merged.map((line) => line.text)).toEqual(["Emergency exit", "Floor 2"]);
    expect(merged[0]?.region).toEqual(regionAt(0, 0, 135));
  });

  it("does not merge words of different size", () => {
    const small = { ...recognized("small", 95, 40), region: regionAt(95, 0, 40, 8) };
    expect(mergeLine([recognized("LARGE", 0, 90), small])).toHaveLength(2);
  });
});
