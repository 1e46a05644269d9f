import { describe, expect, it } from "vitest";
import { findUnguarded } from "../../scripts/check-guards.ts";
import { findLayerProblems } from "../../scripts/check-layers.ts";
import { findLineExcess } from "../../scripts/check-lines.ts";
import { findUncheckedPackages } from "../../scripts/check-lock.ts";
import { findMigrationProblems } from "../../scripts/check-migrations.ts";
import {
  bannedWords,
  findBannedFields,
  findBannedNames,
  findDuplicateTypes,
  findStaleTerms,
  findUndocumentedTerms,
} from "../../scripts/check-names.ts";
import { findLoosePaths } from "../../scripts/check-paths.ts";
import {
  findCodeTextProblems,
  findPageExcess,
  findPageProblems,
} from "../../scripts/check-text.ts";
import { REFUSED_SQL } from "./refused-sql.ts";

const importOf = (path: string) => `import { a } from "${path}";\n`;
const sources = (files: Record<string, string>) => new Map(Object.entries(files));

describe("findLoosePaths", () => {
  it.each([
    ["client/src/a.ts", "const path = `/index/${name}`;"],
    ["client/src/a.ts", "const path = base + encodeURIComponent(id);"],
    ["console/console/a.js", 'const path = "/keys/" + id;'],
  ])("reports, in %s, %s", (file, text) => {
    expect(findLoosePaths([[file, text]])).toEqual([
      expect.stringContaining("makes a path of text"),
    ]);
  });

  it("allows a path of fixed words", () => {
    expect(findLoosePaths([["console/console/a.js", 'api("GET", "/index?limit=1")']])).toEqual([]);
  });
});

describe("findLineExcess", () => {
  const limits = { "*": 150, http: 150 };
  const check = (files: Record<string, number>) => {
    const texts = Object.entries(files).map(([file, lines]) => [file, "\n".repeat(lines)] as const);
    return findLineExcess(new Map(texts), limits);
  };

  it("allows folders of as many lines as they may have", () => {
    expect(check({ "src/a.ts": 150, "src/http/b.ts": 70, "src/http/c/d.ts": 80 })).toEqual([]);
  });

  it.each([
    ["outgrew its limit", { "src/a.ts": 151, "src/http/b.ts": 100 }, /^src\/\* has 151.*remove/],
    ["is far below it", { "src/a.ts": 100, "src/http/b.ts": 49 }, /^src\/http has 49.*lower/],
    ["has none", { "src/a.ts": 100, "src/http/b.ts": 99, "src/new/c.ts": 1 }, /^src\/new has 1 /],
  ])("reports a folder that %s", (_, files, problem) => {
    expect(check(files)).toEqual([expect.stringMatching(problem)]);
  });
});

describe("findUnguarded", () => {
  const report = (text: string) =>
    findUnguarded([["src/store/a.ts", `export async function a() {\n  ${text}\n}`]]).filter(
      (problem) => !problem.endsWith("is not needed"),
    );

  it.each([
    ["writes to R2", "await bucket.put(key, bytes);"],
    ["writes to R2", "await env.MEDIA.createMultipartUpload(key);"],
    ["writes to R2", "await upload.uploadPart(1, bytes);"],
    ["makes a billed call", "await env.AI.run(model, input);"],
    ["makes a billed call", "const image = images.input(stream);"],
    ["makes a billed call", "await space.query(values);"],
    ["meters an environment", 'const metered = meterEnv(env, id, "background");'],
  ])("reports what %s without a known guard: %s", (kind, text) => {
    expect(report(text)).toEqual([expect.stringContaining(`src/store/a.ts a ${kind}`)]);
  });

  it("allows reads, other stores and comments", () => {
    for (const text of ["bucket.get(key);", "this.storage.kv.put(key);", "// bucket.put(key)"]) {
      expect(report(text)).toEqual([]);
    }
  });

  it("reports an entry whose code is gone", () => {
    expect(findUnguarded([])).toContainEqual(expect.stringContaining("storeStream is not needed"));
  });
});

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

  it("reports an import of a router by another route, not by the app or of a plain module", () => {
    const files = {
      "src/routes/a.ts": "export const aRoutes = createRouter();",
      "src/routes/b.ts": `${importOf("./a.ts")}export const bRoutes = createRouter();`,
      "src/routes/records/c.ts": importOf("../a.ts"),
      "src/routes/d.ts": importOf("./records/c.ts"),
      "src/app.ts": importOf("./routes/a.ts"),
    };
    expect(findLayerProblems(sources(files))).toEqual([
      expect.stringContaining("src/routes/b.ts imports src/routes/a.ts: no route imports a router"),
      expect.stringContaining("src/routes/records/c.ts imports src/routes/a.ts"),
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

  it.each(["export interface Span {}", "type Span = string;", "abstract class Span {}"])(
    "report a type name of two files of src, exported or not: %s",
    (text) => {
      const twice = { "src/a.ts": "interface Span {}", "src/b.ts": text, "test/c.ts": text };
      expect(findDuplicateTypes(sources(twice))).toEqual([
        'src/b.ts and src/a.ts both have a type "Span"',
      ]);
    },
  );

  it("allow a type within a function to have the name of another", () => {
    const text = "function read() {\n  type Span = string;\n}\n";
    expect(findDuplicateTypes(sources({ "src/a.ts": text, "src/b.ts": text }))).toEqual([]);
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
    expect(findUndocumentedTerms(["term_coverage", "label_coverage"], pages)).toEqual([
      "no page of docs/ explains `label_coverage`",
    ]);
  });
});

describe("checks of text", () => {
  const ALSO = "also"; // the check reads this file, too
  it.each([
    ["/** Of a part that is held. */", 1],
    ["// Likewise.", 1],
    ["/**\n * As the platform lists it.\n */", 1],
    ["/**\n * Returns the rows\n * of an asset.\n */", 0],
    ["/** Offers a part. */", 0],
    [`/** Frees it, ${ALSO} if it fails. */`, 1],
    ["/** Frees it, even if it fails. */", 0],
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
    [`It is found, ${ALSO} if it is cropped.`, 1],
    [`[a page](https://example.org/${"x".repeat(120)})`, 0],
    ["```\n" + "x".repeat(200) + "\n```", 0],
    [`| ${"x".repeat(80)} |`, 0],
    [`| ${"x".repeat(81)} |`, 1],
  ])("of a page find in %j problems: %i", (text, count) => {
    expect(findPageProblems(sources({ "docs/a.md": text }))).toHaveLength(count);
  });

  it.each([
    [25, 1200, 0],
    [25, 1201, 1],
    [26, 1, 1],
  ])("of %i pages of %i words each find problems: %i", (pages, words, count) => {
    const names = Array.from({ length: pages }, (_, i) => `docs/${i}.md`);
    const texts = Object.fromEntries(names.map((name) => [name, "word ".repeat(words)]));
    const changelog = "word ".repeat(100_000);
    expect(findPageExcess(sources({ ...texts, "CHANGELOG.md": changelog }))).toHaveLength(count);
  });
});

describe("checks of migrations", () => {
  const find = (sql: string, file = "migrations/0002_items.sql") =>
    findMigrationProblems(sources({ [file]: sql }));

  it.each(REFUSED_SQL)("find $cause (#$issue)", ({ sql, issue }) => {
    expect(find(sql)).toEqual([expect.stringContaining(`(cloudflare/workers-sdk#${issue})`)]);
  });

  it.each([
    ["CREATE TABLE a (\n  x INTEGER -- it's\n);\n", "2: no quote marks in a comment"],
    ["/* one; two */\nSELECT 1;\n", "1: no `;` in a comment"],
    ["\ncreate trigger t AFTER INSERT ON a BEGIN DELETE FROM b; END;\n", "2: write CREATE in"],
    ["CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; end;\n", "1: write END in capitals"],
    ["UPDATE a SET x =\n  case y WHEN 1 THEN 2 END;\n", "2: write (CASE … END) in parentheses"],
    ["BEGIN TRANSACTION;\nSELECT 1;\n", "1: no transaction"],
    ["SELECT 1;\r\nSELECT 2;\r\n", "1: end lines with LF"],
    ["SELECT 1;\nSELECT 2 -- the last one\n", "2: end the last statement with `;`"],
  ])("find in %j the problem %j", (sql, problem) => {
    const found = find(sql).map((text) => text.replace("migrations/0002_items.sql:", ""));
    expect(found).toContainEqual(expect.stringContaining(problem));
  });

  it("find a name without a number", () => {
    expect(find("SELECT 1;", "migrations/items.sql")).toEqual([
      "migrations/items.sql: name it with four digits and words, such as 0002_add_labels.sql",
    ]);
  });

  it("take strings with quote marks and semicolons, and triggers in one line", () => {
    const sql = `-- Items, one row each.
INSERT INTO a VALUES ('it''s; -- no comment');
CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = (CASE x WHEN 1 THEN 2 END); END;
`;
    expect(find(sql)).toEqual([]);
  });
});

describe("findUncheckedPackages", () => {
  const integrity = `sha512-${"a".repeat(86)}==`;

  it.each([
    ["with its hash", { "node_modules/a": { integrity } }],
    ["of this repository", { "": {}, client: {} }],
    ["that is a link to a workspace", { "node_modules/sightline": { link: true } }],
  ])("allows a package %s", (_, packages) => {
    expect(findUncheckedPackages(packages)).toEqual([]);
  });

  it.each([
    ["without a hash", {}],
    ["with a weak hash", { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }],
    ["with a cut hash", { integrity: "sha512-aa==" }],
  ])("finds a package %s", (_, entry) => {
    const packages = { "node_modules/a/node_modules/@b/c": entry };
    expect(findUncheckedPackages(packages)).toEqual([
      "package-lock.json has no SHA-512 hash of node_modules/a/node_modules/@b/c",
    ]);
  });
});
