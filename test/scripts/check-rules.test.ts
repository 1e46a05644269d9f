import { describe, expect, it } from "vitest";
import { findLayerProblems } from "../../scripts/check-layers.ts";
import {
  bannedWords,
  findBannedFields,
  findBannedNames,
  findDuplicateTypes,
  findStaleTerms,
  findUndocumentedTerms,
} from "../../scripts/check-names.ts";
import { findCodeTextProblems, findPageProblems } from "../../scripts/check-text.ts";

const importOf = (path: string) => `import { a } from "${path}";\n`;
const sources = (files: Record<string, string>) => new Map(Object.entries(files));

describe("findLayerProblems", () => {
  it.each([
    ["a lower layer", "src/search/a.ts", importOf("../store/b.ts")],
    ["its own part", "src/search/a.ts", importOf("./b.ts")],
    ["types and config, from a stand-in", "local/a.ts", importOf("../src/types.ts")],
    ["tools, from a benchmark", "bench/a.ts", importOf("../tools/b.ts")],
    ["the client, from a tool", "tools/a.ts", importOf("sightline")],
  ])("allows an import of %s", (_, file, text) => {
    expect(findLayerProblems(sources({ [file]: text }))).toEqual([]);
  });

  it.each([
    ["a higher layer", "src/store/a.ts", importOf("../search/b.ts"), /in a higher layer/],
    ["a sibling part", "src/answer/a.ts", importOf("../lifecycle/b.ts"), /another part/],
    ["the objects' code", "src/routes/a.ts", importOf("../durable/b.ts"), /by its stub/],
    ["a route, from http", "src/http/a.ts", importOf("../routes/b.ts"), /in a higher layer/],
    ["a stand-in, from src", "src/app.ts", importOf("../local/b.ts"), /may import src/],
    ["a store, from a stand-in", "local/a.ts", importOf("../src/store/b.ts"), /may import local/],
    ["a benchmark, from a script", "scripts/a.ts", importOf("../bench/b.ts"), /may import scripts/],
    ["a script, from tools", "tools/a.ts", importOf("../scripts/b.ts"), /may import tools/],
    ["the service, from the client", "client/src/a.ts", importOf("../../src/b.ts"), /client\//],
    ["the client, from src", "src/app.ts", importOf("sightline"), /imports the client/],
    ["the client, from a stand-in", "local/a.ts", importOf("sightline/node"), /imports the client/],
    ["an unknown part", "src/misc/a.ts", importOf("../store/b.ts"), /in no layer/],
  ])("reports an import of %s", (_, file, text, message) => {
    expect(findLayerProblems(sources({ [file]: text }))).toEqual([expect.stringMatching(message)]);
  });

  it("reports import cycles, also of types", () => {
    const cycle = {
      "src/search/a.ts": `import type { B } from "./b.ts";\n`,
      "src/search/b.ts": importOf("./c.ts"),
      "src/search/c.ts": importOf("./a.ts"),
      "src/search/d.ts": importOf("./a.ts"),
    };
    expect(findLayerProblems(sources(cycle))).toEqual([
      "import cycle: src/search/a.ts, src/search/b.ts, src/search/c.ts",
    ]);
  });

  it.each([
    ["src/routes/a.ts", "  await c.env.DB.prepare(x).run();", /calls a binding/],
    ["src/ingest/a.ts", "  await env.MEDIA.delete(key);", /calls a binding/],
    ["src/search/a.ts", "  const response = await fetch(url);", /calls fetch/],
  ])("reports in %s the call %s", (file, line, message) => {
    expect(findLayerProblems(sources({ [file]: line }))).toEqual([expect.stringMatching(message)]);
    expect(findLayerProblems(sources({ "src/models/a.ts": line }))).toEqual([]);
  });

  it("reports a file of more than 300 lines", () => {
    expect(findLayerProblems(sources({ "src/app.ts": "\n".repeat(300) }))).toEqual([]);
    expect(findLayerProblems(sources({ "src/app.ts": "\n".repeat(301) }))).toHaveLength(1);
  });
});

describe("bannedWords", () => {
  it.each([
    ["lookThrough", ["look"]],
    ["last_looked_at", ["looked"]],
    ["footage-clips-kept", ["kept"]],
    ["HELD_BYTES", ["held"]],
    ["placesOf", ["places"]],
    ["placing", ["placing"]],
    ["lookup", []],
    ["overlap", []],
    ["replacement", []],
    ["handoverUrl", []],
    ["thumbnail", []],
    ["seedAccount", []],
    ["SheetRequest", ["sheet"]],
    ["CONTACT_SHEET", []],
    ["renderContactSheet", []],
    ["contact-sheet", []],
  ])("of %s are %j", (name, words) => {
    expect(bannedWords(name)).toEqual(words);
  });
});

describe("checks of names", () => {
  it("report banned words in exported names and file names, not in private ones", () => {
    const text = "export async function tellAll() {}\nconst told = 1;\n";
    expect(findBannedNames(sources({ "src/a.ts": text, "src/looks.ts": "" }))).toEqual([
      expect.stringContaining('"tellAll" has the word "tell"'),
      expect.stringContaining('"looks" has the word "looks"'),
    ]);
  });

  it("report a type that two files of src export under one name", () => {
    const text = "export interface Span {}\n";
    const twice = { "src/a.ts": text, "src/b.ts": text, "test/c.ts": text };
    expect(findDuplicateTypes(sources(twice))).toEqual([
      'src/b.ts and src/a.ts both export a type "Span"',
    ]);
  });

  it("report banned words in fields and parameters of the API", () => {
    const document = {
      paths: { "/a": { get: { parameters: [{ in: "query", name: "left" }] } } },
      components: { schemas: { A: { properties: { told: {}, nested: { type: "object" } } } } },
    };
    expect(findBannedFields(document)).toEqual([
      expect.stringContaining('"left"'),
      expect.stringContaining('"told"'),
    ]);
  });

  it("report terms of the glossary that the code doesn't have", () => {
    const glossary = "| term | meaning |\n|---|---|\n| `Cue`, `Gone` | a text of `Other` |\n";
    const code = sources({ "src/a.ts": "export interface Cue {}" });
    expect(findStaleTerms(glossary, code)).toEqual([expect.stringContaining("`Gone`")]);
  });

  it("report terms of the API that no page explains", () => {
    const pages = sources({ "docs/a.md": "`term_coverage` is a share." });
    expect(findUndocumentedTerms(["term_coverage", "log_prior"], pages)).toEqual([
      "no page of docs/ explains `log_prior`",
    ]);
  });
});

describe("checks of text", () => {
  it.each([
    ["/** Of a part that is held. */", 1],
    ["// Likewise.", 1],
    ["/**\n * As the platform lists it.\n */", 1],
    ["/**\n * Returns the rows\n * of an asset.\n */", 0],
    ["/** Offers a part. */", 0],
    [`/** Reads ${"x".repeat(100)}. */`, 1],
    [`      SELECT ${"x".repeat(100)} FROM a`, 1],
    [`const a = "${"x".repeat(100)}";`, 0],
    [`// https://example.org/${"x".repeat(100)}`, 0],
  ])("of code find in %j problems: %i", (text, count) => {
    expect(findCodeTextProblems(sources({ "src/a.ts": text }))).toHaveLength(count);
  });

  it.each([
    ["x".repeat(120), 0],
    ["x".repeat(121), 1],
    [`[a page](https://example.org/${"x".repeat(120)})`, 0],
    ["```\n" + "x".repeat(200) + "\n```", 0],
    [`| ${"x".repeat(80)} |`, 0],
    [`| ${"x".repeat(81)} |`, 1],
  ])("of a page find in %j problems: %i", (text, count) => {
    expect(findPageProblems(sources({ "docs/a.md": text }))).toHaveLength(count);
  });
});
