import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DECODER_CONTAINER } from "../src/decoder-container.ts";
import { FINDINGS, INDEX_FINDINGS } from "../src/lifecycle/findings.ts";
import { SIGNALS } from "../src/search/fuse.ts";
import { INGEST_STEPS } from "../src/types.ts";
import { findSilentCatches } from "./check-catches.ts";
import { findDockerfileProblems } from "./check-dockerfile.ts";
import { findUnguarded } from "./check-guards.ts";
import { findLooseIds } from "./check-ids.ts";
import { findLayerProblems, type Sources } from "./check-layers.ts";
import { findLineExcess } from "./check-lines.ts";
import { findBrokenLinks } from "./check-links.ts";
import { findUncheckedPackages } from "./check-lock.ts";
import { findUnregistered } from "./check-memory.ts";
import { findMigrationProblems } from "./check-migrations.ts";
import {
  findBannedFields,
  findBannedNames,
  findDuplicateTypes,
  findStaleTerms,
  findUndocumentedTerms,
} from "./check-names.ts";
import { findLoosePaths } from "./check-paths.ts";
import { findSlowPatterns } from "./check-patterns.ts";
import { findSpreads } from "./check-spreads.ts";
import { findLooseSql, findLossyMigrations } from "./check-sql.ts";
import { findCodeTextProblems, findPageExcess, findPageProblems } from "./check-text.ts";

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
const manifest: { devDependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
/** Whether `.dockerignore` sends a file or folder to Docker. */
const contextPaths = readFileSync(join(root, ".dockerignore"), "utf8").match(/(?<=^!).+$/gm) ?? [];
const isInContext = (path: string): boolean =>
  contextPaths.some((one) => path === one || path.startsWith(`${one}/`));
const pages = read("{*.md,docs/**/*.md}");
/** Names what judges patterns: its code, and the version of recheck. */
const judgeTag = createHash("sha256")
  .update(`${code.get("scripts/check-patterns.ts")} ${manifest.devDependencies["recheck"]}`)
  .digest("hex");
const below = (folder: string, sources: Sources): Sources =>
  new Map([...sources].filter(([file]) => file.startsWith(folder)));
const problems = [
  ...findLayerProblems(code),
  ...findLineExcess(below("src/", code)),
  ...findLooseIds(below("src/", code)),
  ...findUnguarded(below("src/", code)),
  ...findLoosePaths([
    ...below("client/src/", code),
    ...read("console/console/{*,!(packages)/*}.js"),
  ]),
  ...findLooseSql(code),
  ...findSpreads(below("src/", code)),
  ...findSlowPatterns(
    new Map([...code].filter(([file]) => /^(?:src|client\/src|local|scripts)\//.test(file))),
    join(root, "node_modules/.cache/sightline", `safe-patterns-${judgeTag}.json`),
  ),
  ...findLossyMigrations(new Map([...code, ...read("migrations/*.sql")])),
  ...findUnregistered(code),
  ...findSilentCatches(new Map([...code].filter(([file]) => !/^(?:bench|test)\//.test(file)))),
  ...findBannedNames(code),
  ...findDuplicateTypes(code),
  ...findBannedFields(JSON.parse(readFileSync(join(root, "openapi.json"), "utf8"))),
  ...findStaleTerms(pages.get("docs/architecture.md") ?? "", code),
  ...findUndocumentedTerms(
    [...SIGNALS, ...INGEST_STEPS, ...FINDINGS, ...INDEX_FINDINGS],
    below("docs/", pages),
  ),
  ...findCodeTextProblems(code),
  ...findPageProblems(pages),
  ...findPageExcess(pages),
  ...findBrokenLinks(
    pages,
    new Map([
      ...[...code].filter(([file]) => !file.startsWith("test/")),
      ...read("{wrangler,local/wrangler}.toml"),
    ]),
    new Set(
      globSync(
        "{*,docs/**,{bench,client,console,decoder,local,scripts,src,test,tools}/**,.ci/**}",
        {
          cwd: root,
          exclude: (path) => path.includes("node_modules"),
        },
      ),
    ),
  ),
  ...findMigrationProblems(read("migrations/*.sql")),
  ...[...read("decoder/Dockerfile")].flatMap(([file, text]) =>
    findDockerfileProblems(file, text, {
      nodeVersion: manifest.devDependencies["node"]!,
      port: DECODER_CONTAINER.port,
      exists: (path) => existsSync(join(root, path)) && isInContext(path),
    }),
  ),
  ...findUncheckedPackages(
    JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages,
  ),
];
if (problems.length > 0) {
  console.error(problems.join("\n"));
  console.error(`${problems.length} problems.`);
  process.exit(1);
}
