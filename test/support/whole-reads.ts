/** A table or an index: a row of `sqlite_schema`. */
export interface SchemaRow {
  type: string;
  name: string;
  /** Null for an index that SQLite made. */
  sql: string | null;
}

/** A step of a query plan. */
export interface PlanStep {
  detail: string;
}

/** Tables that statements may read whole, and why that is no fault. */
const READ_WHOLE: Readonly<Record<string, string>> = {
  deliveries: "an index has a limit of them",
  deployment: "it has one row",
  judgments: "an index has a limit of them",
  limits_met: "it has a row for each code of a model and minute of a day",
  new_matches: "it has rows of assets in progress only",
  segment_counts: "it has a row for each type of asset",
  segment_fts_docsize: "a search over several databases counts segments with text",
  shards: "the check of a foreign key, which runs only if one is violated",
  signature_changes: "it has rows of one transaction only",
  vector_pairs: "it has a row for each pair of Vectorize indexes",
};
/** Statements that read another table whole, by how they begin, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "SELECT 1 FROM accounts LIMIT 1": "it reads one row",
  "SELECT segment_id AS id FROM assets CROSS JOIN": "a re-traversal takes a sample",
  "DELETE FROM assets WHERE deleted_at <": "a re-traversal removes what was deleted long ago",
  "INSERT INTO usage (account_id, date, stored_bytes": "once a day, usage adds up all accounts",
};

/**
 * Returns the steps by which a statement reads a growing table whole. Source of their forms:
 * https://www.sqlite.org/eqp.html
 */
export function findWholeReads(
  statement: string,
  steps: readonly PlanStep[],
  schema: readonly SchemaRow[],
): string[] {
  const text = statement.replaceAll(/\s+/g, " ").trim();
  if (Object.keys(EXCEPTIONS).some((start) => text.startsWith(start))) return [];
  const tables = new Set(schema.flatMap(({ type, name }) => (type === "table" ? [name] : [])));
  const partial = new Set(
    schema.flatMap(({ name, sql }) => (/ WHERE /.test(sql ?? "") ? [name] : [])),
  );
  return steps.flatMap(({ detail }) => {
    const [, table = "", index = ""] =
      /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
    if (!tables.has(table) || table in READ_WHOLE || partial.has(index)) return [];
    return detail.includes("VIRTUAL TABLE") ? [] : [`${detail}: ${text}`];
  });
}
