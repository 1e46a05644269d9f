import type { DatabaseSync } from "node:sqlite";

/** Tables that statements read whole, and why that is no fault. */
const READ_WHOLE: Record<string, string> = {
  accounts: "a probe reads one row",
  assets: "a re-traversal takes a sample of them, and removes those that were deleted long ago",
  deliveries: "an index has a limit of them",
  deployment: "it has one row",
  fill_history: "it has a row for each pair of Vectorize indexes and day",
  judgments: "an index has a limit of them, and a fit reads all",
  limits_met: "it has a row for each code of a model and minute of a day",
  new_matches: "it has rows of assets in progress only",
  segment_counts: "it has a row for each type of asset",
  segment_fts_docsize: "a search over several databases counts segments with text",
  shards: "the check of a foreign key, which runs only if one is violated",
  signature_changes: "it has rows of one transaction only",
  tallies: "once a day, usage adds up those of all accounts",
  vector_pairs: "it has a row for each pair of Vectorize indexes",
};
/** The only functions that may read these tables whole. Others may be read whole by any. */
const READERS: Record<string, readonly string[]> = {
  accounts: ["probeDatabase"],
  assets: ["listFirstSegments", "pruneDeleted"],
  tallies: ["recordStored"],
};

interface PlanStep {
  id: number;
  parent: number;
  detail: string;
}

/**
 * Returns a sentence for each step by which a statement reads more than it needs: a table whole
 * that grows, or a list of parameters once for each row of a table. Source of the forms:
 * https://www.sqlite.org/eqp.html
 */
export function findSlowSteps(db: DatabaseSync, sql: string, caller: string): string[] {
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as unknown as PlanStep[];
  return [...findWholeReads(db, steps, caller), ...findRepeatedLists(db, steps)];
}

function findWholeReads(db: DatabaseSync, steps: PlanStep[], caller: string): string[] {
  const tables = columnOf(db, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  const partial = columnOf(
    db,
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'",
  );
  return steps.flatMap(({ detail }) => {
    const [, table = "", index = ""] =
      /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
    if (!tables.has(table) || partial.has(index) || detail.includes("VIRTUAL TABLE")) return [];
    const readers = READERS[table];
    const isAllowed = readers ? readers.some((name) => caller.endsWith(` ${name}`)) : true;
    return table in READ_WHOLE && isAllowed ? [] : [`reads ${table} whole (${detail})`];
  });
}

/** The loops of a statement are steps without a parent, the outermost first. */
function findRepeatedLists(db: DatabaseSync, steps: PlanStep[]): string[] {
  const loops = steps.filter(
    ({ parent, detail }) => parent === 0 && /^S(?:CAN|EARCH)/.test(detail),
  );
  const list = loops.findIndex(({ detail }) => detail.startsWith("SCAN json_each "));
  const around = loops.slice(0, Math.max(0, list)).find(({ detail }) => !findsOneRow(db, detail));
  return around ? [`reads its list again for each row of another (${around.detail})`] : [];
}

/** Whether a step finds at most one row, by all columns of a unique index. */
function findsOneRow(db: DatabaseSync, detail: string): boolean {
  const match = /^SEARCH (\w+) .*?USING (?:COVERING )?(.*) \((.*)\)$/.exec(detail);
  if (!match) return false;
  const [, table = "", used = "", terms = ""] = match;
  if (used === "INTEGER PRIMARY KEY") return terms === "rowid=?";
  const equal = terms.split(" AND ").filter((term) => /^\w+=\?$/.test(term)).length;
  const indexes = db.prepare("SELECT * FROM pragma_index_list(?)").all(table);
  const index = indexes.find(({ name, origin }) =>
    used === "PRIMARY KEY" ? origin === "pk" : `INDEX ${String(name)}` === used,
  );
  if (!index || index["unique"] !== 1) return false;
  const columns = db.prepare("SELECT name FROM pragma_index_info(?)").all(String(index["name"]));
  return columns.length === equal;
}

function columnOf(db: DatabaseSync, sql: string): Set<string> {
  return new Set(
    db
      .prepare(sql)
      .all()
      .map((row) => String(Object.values(row)[0])),
  );
}
