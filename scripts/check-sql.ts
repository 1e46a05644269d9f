import type { Sources } from "./check-layers.ts";

/** Where statements are composed and run. Elsewhere, values would be bound by their position. */
const RUNNERS: ReadonlySet<string> = new Set([
  "src/store/sql.ts",
  "src/durable/counted-storage.ts",
  "src/durable/migrate.ts", // text without values
  "src/metering/meter-database.ts", // wraps the database that `src/store/sql.ts` gets
]);

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;
/** A statement of D1, or one of an object's storage: regular expressions have `exec`, too. */
const POSITIONAL = /\.(?:prepare|bind)\s*\(|\b(?:sql|storage)\s*\.exec\b|\.exec</gi;
const TEMPLATE = /\bsql`/;

/**
 * Returns a sentence for each statement that isn't composed by `src/store/sql.ts`, and for each
 * file above `store/` and `durable/` that composes one.
 */
export function findLooseSql(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [file, text] of sources) {
    if (!file.startsWith("src/") || RUNNERS.has(file)) continue;
    const code = text.replaceAll(COMMENTS, (comment) => comment.replaceAll(/[^\n]/g, " "));
    for (const { index, 0: call } of code.matchAll(POSITIONAL)) {
      const line = code.slice(0, index).split("\n").length;
      problems.push(`${file}:${line} has ${call.trim()}: compose the statement with sql\`…\``);
    }
    if (TEMPLATE.test(code) && !/^src\/(?:store|durable)\//.test(file)) {
      problems.push(`${file} composes SQL, which belongs into store/ or durable/`);
    }
  }
  return problems;
}
