import { splitStatements, tokenizeSql } from "../tools/sql-statements.ts";
import type { Sources } from "./check-layers.ts";

/** Where statements are composed and run. Elsewhere, values would be bound by their position. */
const RUNNERS: ReadonlySet<string> = new Set([
  "src/store/sql.ts",
  "src/durable/counted-storage.ts",
  "src/durable/migrate.ts", // text without values
]);

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;
/** A statement of D1, or one of an object's storage: regular expressions have `exec`, too. */
const POSITIONAL = /\.(?:prepare|bind)\s*\(|\b(?:sql|storage)\s*\.exec\b|\.exec</gi;
const TEMPLATE = /\bsql`|\bd1\(/;
/** A statement that fails once a later version adds a column. */
const NO_COLUMNS = /\bINSERT (?:OR \w+ )?INTO \w+\s+(?:VALUES|SELECT)\b/;

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
    if (NO_COLUMNS.test(code) && !/_MIGRATIONS\b = \[/.test(code)) {
      problems.push(`${file} inserts without naming columns: it fails once there is another`);
    }
    if (TEMPLATE.test(code) && !/^src\/(?:store|durable)\//.test(file)) {
      problems.push(`${file} composes SQL, which belongs into store/ or durable/`);
    }
  }
  return problems;
}

/** Migrations of D1 that were there before this rule. No deployment can return past them. */
const LAST_EXEMPT = "migrations/0011";
/** The list of an object's migrations, and the texts in it. */
const LIST = /\b\w+_MIGRATIONS(?:: [^=]+)? = \[([^]*?)\n\];/g;
const TEXT = /`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g;

/** What a statement of a migration may not do, and the reason. */
const REFUSALS: readonly (readonly [RegExp, reason: string])[] = [
  [/^DROP (?!INDEX\b)/, "drops what the version before uses"],
  [/^ALTER TABLE\b.*? DROP\b/, "drops what the version before uses"],
  [/^ALTER TABLE\b.*? RENAME\b/, "renames what the version before uses"],
  [
    /^ALTER TABLE\b.*? ADD\b(?!.* DEFAULT\b).* NOT NULL\b/,
    "adds a column NOT NULL without a DEFAULT, which the version before doesn't write",
  ],
];

/**
 * Returns a sentence for each statement of a migration after which the version before doesn't work:
 * it runs on the new schema while a deployment goes on, and after a rollback.
 */
export function findLossyMigrations(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (file.endsWith(".sql")) {
      return file.slice(0, LAST_EXEMPT.length) <= LAST_EXEMPT ? [] : findLossy(file, [text]);
    }
    const lists = file.startsWith("src/durable/") ? [...text.matchAll(LIST)] : [];
    return lists.flatMap(([, list = ""]) =>
      findLossy(
        file,
        [...list.matchAll(TEXT)].map((match) => match[1] ?? match[2]!),
      ),
    );
  });
}

/** The version before doesn't know the tables that a migration creates. */
function findLossy(file: string, migrations: string[]): string[] {
  const problems: string[] = [];
  for (const migration of migrations) {
    const created = new Set<string | undefined>();
    for (const { text } of splitStatements(migration)) {
      const tokens = tokenizeSql(text).filter(({ isComment }) => !isComment);
      const plain = tokens
        .map((token) => token.text)
        .join("")
        .replaceAll(/\s+/g, " ");
      const statement = plain.toUpperCase();
      created.add(/^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/.exec(statement)?.[1]);
      const table = /^CREATE UNIQUE INDEX\b.* ON (\w+)/.exec(statement)?.[1];
      if (table !== undefined && !created.has(table)) {
        problems.push(`${file} refuses what the version before writes: ${plain.slice(0, 80)}`);
      }
      for (const [pattern, reason] of REFUSALS) {
        if (pattern.test(statement)) problems.push(`${file} ${reason}: ${plain.slice(0, 80)}`);
      }
    }
  }
  return problems;
}
