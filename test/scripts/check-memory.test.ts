import { expect, it } from "vitest";
import { findUnregistered } from "../../scripts/check-memory.ts";

const find = (text: string, file = "src/http/a.ts") => findUnregistered(new Map([[file, text]]));

it.each([
  "let checkedAt = 0;",
  "export let checkedAt: number;",
  "const seen = new Set();",
  "const meters = new Map<AccountId, Map<string, number>>();",
  "const recent: LruCache<string> = new LruCache(50);",
])("what a module keeps between requests without registering it is reported: %j", (text) => {
  expect(find(`import {} from "b";\n${text}\n`)).toEqual([
    expect.stringMatching(/^src\/http\/a\.ts keeps \w+ between requests/),
  ]);
});

it.each([
  "const seen = remember(new Set());",
  "const checkedAt = new Remembered(0);",
  "const NONE: ReadonlyMap<string, string> = new Map();",
  'const UNITS = new Set(["s", "ms"]);',
  "function f() {\n  let sum = 0;\n  const seen = new Set();\n}",
])("what is registered, constant or local is allowed: %j", (text) => {
  expect(find(text)).toEqual([]);
});

it("tables of words and what isn't deployed are allowed", () => {
  expect(find("let table = null;", "src/text/fold.ts")).toEqual([]);
  expect(find("let count = 0;", "tools/a.ts")).toEqual([]);
});
