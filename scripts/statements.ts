import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../tools/stack/local-state.ts";
import { formatStatements } from "../tools/statements/format-statements.ts";
import { recordStatements } from "../tools/statements/record.ts";

/**
 * Writes docs/statements.sql: every statement as the databases get it. With `--check`, fails if the
 * file is outdated. Fails if a statement doesn't compile, or if no sample composes it.
 */
const file = join(PROJECT, "docs/statements.sql");
const { statements, problems } = await recordStatements();
const current = formatStatements(statements);
if (process.argv.includes("--check")) {
  const isOutdated = readFileSync(file, "utf8") !== current;
  if (isOutdated) problems.push("docs/statements.sql differs from src/: run `npm run sql`.");
} else writeFileSync(file, current);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
