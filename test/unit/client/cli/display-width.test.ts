import { describe, expect, it } from "vitest";
import {
  displayWidth,
  fitToWidth,
  truncateToWidth,
} from "../../../../client/src/cli/display-width.ts";
import { sanitizeLine } from "../../../../client/src/cli/sanitize.ts";
import { formatTable } from "../../../../client/src/cli/table.ts";

describe("the display width of text", () => {
  it.each([
    ["", 0],
    ["film.mp4", 8],
    ["café", 4],
    ["cafe\u0301", 4],
    ["日本語", 6],
    ["한국어", 6],
    ["\u1112\u1161\u11AB", 2],
    ["ｆｕｌｌ", 8],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["1️⃣", 2],
    ["שלום", 4],
    ["مَرْحَبا", 5],
    ["a\u200Bb", 2],
  ])("counts the columns of %j as %i", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe("cutting text to a width", () => {
  it.each([
    ["film.mp4", 8, "film.mp4"],
    ["film.mp4", 5, "film…"],
    ["日本語の動画", 6, "日本…"],
    ["日本語の動画", 7, "日本語…"],
    ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
    ["film", 0, ""],
  ])("cuts %j to %i columns", (text, width, cut) => {
    expect(truncateToWidth(text, width)).toBe(cut);
  });

  it("fills a cell to its width, also beside wide characters", () => {
    expect(fitToWidth("日本", 6)).toBe("日本  ");
    expect(fitToWidth("7", 3, "right")).toBe("  7");
  });

  it("isolates right-to-left text, so that it doesn't reorder the next cell", () => {
    expect(fitToWidth("שלום", 6)).toBe("\u2068שלום\u2069  ");
  });
});

it("text of strangers loses escape sequences, line breaks and direction overrides", () => {
  expect(sanitizeLine("a\u001B[31mb\n\tc\u202Egpj.exe ")).toBe("a [31mb cgpj.exe");
});

describe("a table", () => {
  const columns = [
    { title: "#", align: "right" as const },
    { title: "title", minWidth: 8 },
  ];

  it.each([
    ["a".repeat(200)],
    ["動画".repeat(100)],
    ["🎬".repeat(100)],
    ["וידאו ".repeat(40)],
    ["line\nbreak"],
  ])("with the title %j fits its width and has a line for each row", (title) => {
    const lines = formatTable(columns, [["1", title]], 40);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });

  it("aligns the cells after titles in several scripts", () => {
    const rows = [
      ["film", "0:05"],
      ["日本語", "0:07"],
      ["🎬", "0:09"],
    ];
    const lines = formatTable([{ title: "title" }, { title: "time" }], rows, 80);
    const starts = lines.map((line) => displayWidth(line) - 4);
    expect(new Set(starts)).toEqual(new Set([8]));
  });

  it("isn't cut below the smallest width of its columns", () => {
    const [header, row] = formatTable(columns, [["1", "a".repeat(50)]], 5);
    expect([header, row]).toEqual(["#  title", "1  aaaaaaa…"]);
  });
});
