import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FINDINGS, INDEX_FINDINGS } from "../src/lifecycle/findings.ts";
import { SIGNALS } from "../src/search/signals.ts";
import { INGEST_STEPS } from "../src/types.ts";
import { findLooseIds } from "./check-ids.ts";
import { findLayerProblems, type Sources } from "./check-layers.ts";
import {
  findBannedFields,
  findBannedNames,
  findDuplicateTypes,
  findStaleTerms,
  findUndocumentedTerms,
} from "./check-names.ts";
import { findCodeTextProblems, findPageProblems } from "./check-text.ts";

/** Checks the rules of AGENTS.md that neither the compiler nor the linter knows. */
const root = join(import.meta.dirname, "..");
const read = (pattern: string): Map<string, string> =>
  new Map(
    globSync(pattern, { cwd: root, exclude: (path) => path.includes("node_modules") })
      .toSorted()
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );

const code = read("{src,client/src,local,tools,scripts,bench,test}/**/*.ts");
code.delete("client/src/schema.ts"); // generated
const pages = read("{*.md,docs/**/*.md}");
const below = (folder: string, sources: Sources): Sources =>
  new Map([...sources].filter(([file]) => file.startsWith(folder)));
const problems = [
  ...findLayerProblems(code),
  ...findLooseIds(below("src/", code)),
  ...findBannedNames(code),
  ...findDuplicateTypes(code),
  ...findBannedFields(JSON.parse(readFileSync(join(root, "openapi.json"), "utf8"))),
  ...findStaleTerms(pages.get("docs/glossary.md") ?? "", code),
  ...findUndocumentedTerms(
    [...SIGNALS, ...INGEST_STEPS, ...FINDINGS, ...INDEX_FINDINGS],
    below("docs/", pages),
  ),
  ...findCodeTextProblems(code),
  ...findPageProblems(pages),
];
if (problems.length > 0) {
  console.error(problems.join("\n"));
  console.error(`${problems.length} problems.`);
  process.exit(1);
}
