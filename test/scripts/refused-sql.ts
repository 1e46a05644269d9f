const trigger = (name: string, body: string) =>
  `CREATE TRIGGER ${name} AFTER INSERT ON items BEGIN ${body} END;`;
const ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY, count INTEGER);";
const COUNT = "UPDATE items SET count = count + 1 WHERE id = new.id;";

export interface RefusedSql {
  /** Issue of cloudflare/workers-sdk. */
  issue: number;
  cause: string;
  sql: string;
  /** D1's answer to it as a query. */
  message: string;
}

/** SQL that D1's query API was reported to refuse, and that its import API takes. */
export const REFUSED_SQL: readonly RefusedSql[] = [
  {
    issue: 15690,
    cause: "a trigger of several lines",
    sql: `${ITEMS}\nCREATE TRIGGER items_count\nAFTER INSERT ON items\nBEGIN\n  ${COUNT}\nEND;\n`,
    message: "incomplete input: SQLITE_ERROR",
  },
  {
    issue: 15314,
    cause: "a lower-case begin",
    sql: `${ITEMS}\n${trigger("items_count", COUNT).replace("BEGIN", "begin")}\n`,
    message: "incomplete input: SQLITE_ERROR",
  },
  {
    issue: 4713,
    cause: "an apostrophe in a comment",
    sql: `-- The item's table.\n${ITEMS}\nCREATE TABLE others (id INTEGER PRIMARY KEY);\n`,
    message: "A prepared SQL statement must contain only one statement.",
  },
  {
    issue: 3892,
    cause: "a semicolon in a comment",
    sql: `-- Items; one row each.\n${ITEMS}\n`,
    message: "SQL code did not contain a statement.",
  },
  {
    issue: 15178,
    cause: "21 triggers in a file",
    sql: [ITEMS, ...Array.from({ length: 21 }, (_, i) => trigger(`items_${i}`, COUNT)), ""].join(
      "\n",
    ),
    message: "incomplete input: SQLITE_ERROR",
  },
  {
    issue: 4727,
    cause: "a CASE without parentheses",
    sql: `${ITEMS}\n${trigger("items_count", "SELECT CASE WHEN TRUE THEN 1 END;")}\n`,
    message: "incomplete input: SQLITE_ERROR",
  },
];
