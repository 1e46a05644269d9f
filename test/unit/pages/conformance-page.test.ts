import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROJECT } from "../../../tools/stack/local-state.ts";

const page = readFileSync(join(PROJECT, "docs/conformance.md"), "utf8");
const ROW = /^\| .* \| `([\w/-]+)` \| `(.+)` \|$/gm;
const rows = [...page.matchAll(ROW)].map(([, file, title]) => ({ file: file!, title: title! }));

it("the page on conformance names enough tests", () => {
  expect(rows.length).toBeGreaterThan(40);
});

it.each(rows)("the test of the page on conformance exists: $title", ({ file, title }) => {
  const folder = file.includes("/") ? "test" : "test/routes";
  const source = readFileSync(join(PROJECT, folder, `${file}.test.ts`), "utf8");
  expect(source).toContain(`"${title}"`);
});
