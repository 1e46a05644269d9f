import { describe, expect, it } from "vitest";
import { findBrokenLinks } from "../../scripts/check-links.ts";

const sources = (files: Record<string, string>) => new Map(Object.entries(files));

describe("findBrokenLinks", () => {
  const files = new Set(["README.md", "src/media/read.ts", "docs/a.md", "docs/b.md", "docs/a.png"]);
  const target = "# B\n\n## Set it up, `fast`\n\n```sh\n# not a heading\n```\n";
  const find = (text: string) =>
    findBrokenLinks(sources({ "docs/a.md": text, "docs/b.md": target }), new Map(), files);

  it.each([
    ["[b](b.md)"],
    ["[b](b.md#set-it-up-fast)"],
    ["[readme](../README.md), ![image](a.png)"],
    ["## Own\n\n[own](#own)"],
    ["[elsewhere](https://example.org/b.md#none)"],
    ["`read.ts`, `media/read.ts`, `src/media/read.ts`"],
  ])("accepts %j on a page", (text) => {
    expect(find(text)).toEqual([]);
  });

  it.each([
    ["[c](c.md)", "docs/a.md:1 names docs/c.md, which doesn't exist"],
    ["\n[b](b.md#set-up)", "docs/a.md:2 names docs/b.md#set-up: no such heading"],
    ["[b](b.md#not-a-heading)", "docs/a.md:1 names docs/b.md#not-a-heading: no such heading"],
    ["[own](#other)", "docs/a.md:1 names docs/a.md#other: no such heading"],
    ["[b](docs/b.md)", "docs/a.md:1 names docs/docs/b.md, which doesn't exist"],
    ["`ead.ts`", "docs/a.md:1 names ead.ts, which doesn't exist"],
    ["\n`src/read.ts`", "docs/a.md:2 names src/read.ts, which doesn't exist"],
  ])("reports %j on a page", (text, problem) => {
    expect(find(text)).toEqual([problem]);
  });

  it("reports pages and headings that code names and that don't exist", () => {
    const code = sources({
      "src/a.ts": "// docs/b.md\n// docs/c.md\n// docs/b.md#none\n// other.org/main/docs/c.md",
    });
    expect(findBrokenLinks(sources({ "docs/b.md": target }), code, files)).toEqual([
      "src/a.ts:2 names docs/c.md, which doesn't exist",
      "src/a.ts:3 names docs/b.md#none: no such heading",
    ]);
  });
});
