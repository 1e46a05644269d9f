import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { providePlatformClasses } from "../platform-classes.ts";
import { PROJECT } from "../stack/local-state.ts";
import { type RecordedStatement, StatementLog } from "./recorded-databases.ts";
import { TemplateCoverage } from "./template-coverage.ts";

export interface Recording {
  statements: readonly RecordedStatement[];
  problems: string[];
}

/** Calls the functions of the stores and the objects, and records the statements that they run. */
export async function recordStatements(): Promise<Recording> {
  providePlatformClasses();
  const coverage = new TemplateCoverage();
  await coverage.start();
  const log = new StatementLog();
  const { callStores } = await import("./call-stores.ts");
  const { callObjects } = await import("./call-objects.ts");
  const sources = readSources();
  const files = [...sources.keys()].filter((file) => file.startsWith("src/store/"));
  const problems = await callStores(log, files);
  await callObjects(log);
  problems.push(...log.problems);
  for (const place of await coverage.listUnreached(sources)) {
    problems.push(`${place}: no sample composes this statement`);
  }
  return { statements: log.statements, problems };
}

/** Reads the modules that compose statements, by path from the project's root. */
function readSources(): Map<string, string> {
  const files = globSync("src/{store,durable}/**/*.ts", { cwd: PROJECT }).toSorted();
  const sources = new Map(files.map((file) => [file, readFileSync(join(PROJECT, file), "utf8")]));
  for (const [file, text] of sources) if (!/\bsql`/.test(text)) sources.delete(file);
  sources.delete("src/store/sql.ts"); // the composer: its fragments are part of others' statements
  return sources;
}
