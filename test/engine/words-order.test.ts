import { describe, expect, it } from "vitest";
import type { Region } from "../../local/engine/words-find.ts";
import { groupRows, joinRow } from "../../local/engine/words-rows.ts";

const at = (left: number, top: number, width = 80, height = 20): Region => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

const read = (text: string, left: number, width: number) => ({
  text,
  score: 0.9,
  region: at(left, 0, width),
});

describe("reading order", () => {
  it("goes through rows from the top and each row from the left", () => {
    const [a, b, c, d] = [at(10, 10), at(200, 14), at(10, 60), at(200, 56)];
    expect(groupRows([d, b, c, a])).toEqual([
      [a, b],
      [c, d],
    ]);
  });

  it("keeps close lines apart", () => {
    const lines = [at(30, 0), at(20, 18), at(10, 36)];
    expect(groupRows(lines.toReversed())).toEqual(lines.map((line) => [line]));
  });
});

describe("a row", () => {
  it("is one line where only spaces part its words", () => {
    const joined = joinRow([
      read("Emergency", 0, 90),
      read("exit", 95, 40),
      read("Floor 2", 200, 70),
    ]);
    expect(joined.map((line) => line.text)).toEqual(["Emergency exit", "Floor 2"]);
    expect(joined[0]?.region).toEqual(at(0, 0, 135));
  });

  it("keeps words of different size apart", () => {
    const small = { ...read("small", 95, 40), region: at(95, 0, 40, 8) };
    expect(joinRow([read("LARGE", 0, 90), small])).toHaveLength(2);
  });
});
