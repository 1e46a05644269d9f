import { formatSql } from "./format-sql.ts";
import type { RecordedStatement } from "./recorded-databases.ts";

const HEADER = `-- Every SQL statement of the service, as its databases get it. \`npm run sql\` writes this file, and
-- \`npm run check\` fails if it is outdated. Review it for what a change of \`src/\` does to SQL.
--
-- \`tools/statements/\` calls each function of \`src/store/\` that takes a binding, and the methods of
-- the objects in \`src/durable/\`, with sample values, by the names of their parameters. Databases in
-- memory with the tables of \`migrations/\` and of the objects compile and run each statement, so
-- that one with an unknown column fails. The coverage of the run tells which \`sql\` templates
-- nothing has composed, and that fails, too. Optional parts of a statement, such as the columns of an
-- update, are those of the samples. A statement is listed once, at the first function that runs it.
`;

/** Writes statements under the functions that run them, each once for each database. */
export function formatStatements(statements: readonly RecordedStatement[]): string {
  const listed = new Set<string>();
  let heading = "";
  let text = HEADER;
  for (const { database, caller, sql } of statements) {
    const formatted = formatSql(sql);
    const key = `${database}: ${formatted}`;
    if (listed.has(key)) continue;
    listed.add(key);
    const place = `-- ${caller}, in ${database}`;
    if (place !== heading) text += `\n${place}\n`;
    heading = place;
    text += `${formatted};\n`;
  }
  return text;
}
