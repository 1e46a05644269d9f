import { countOf, setCount } from "../counts.ts";
import { toSnakeCase } from "../field-names.ts";
import { append } from "../lists.ts";

/** SQL text with an anonymous `?` for each of its bindings, in order. */
export interface SqlFragment {
  readonly sql: string;
  readonly bindings: readonly SqlValue[];
}

type SqlValue = string | number | null | Uint8Array<ArrayBuffer>;

/**
 * Composes SQL as a template tag. Fragments are inserted with their bindings, and every other value
 * becomes a `?`. A statement takes 100 parameters.
 */
export function sql(
  texts: TemplateStringsArray,
  ...values: readonly (SqlFragment | SqlValue)[]
): SqlFragment {
  let text = texts[0]!;
  const bindings: SqlValue[] = [];
  for (const [i, value] of values.entries()) {
    if (isFragment(value)) {
      text += value.sql;
      append(bindings, value.bindings);
    } else {
      text += "?";
      bindings.push(value);
    }
    text += texts[i + 1]!;
  }
  return { sql: text, bindings };
}

function isFragment(value: SqlFragment | SqlValue): value is SqlFragment {
  return typeof value === "object" && value !== null && "bindings" in value;
}

export function raw(text: string): SqlFragment {
  return { sql: text, bindings: [] };
}

/** Concatenates fragments with a separator, such as ` AND `. */
export function concat(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  return {
    sql: fragments.map((fragment) => fragment.sql).join(separator),
    bindings: fragments.flatMap(({ bindings }) => bindings),
  };
}

/**
 * Assigns the defined properties of a change to the columns of their names in snake case. Booleans
 * become numbers, and objects JSON.
 */
export function assignments(change: object): SqlFragment {
  const assigned = toCells(change).map(({ column, value }) => sql`${column} = ${value}`);
  return concat(assigned, ", ");
}

/**
 * The row to insert into a table, by the rules of `assignments`: follows `INSERT INTO`, and can be
 * followed by `WHERE`.
 */
export function newRow(table: string, row: object): SqlFragment {
  const cells = toCells(row);
  const [columns, values] = [cells.map(({ column }) => column), cells.map(({ value }) => value)];
  return sql`${raw(table)} (${concat(columns, ", ")}) SELECT ${concat(values, ", ")}`;
}

function toCells(row: object) {
  const defined = Object.entries(row).filter(([, value]) => value !== undefined);
  return defined.map(([name, value]: [string, unknown]) => {
    const isJson = typeof value === "object" && value !== null;
    const bound = typeof value === "boolean" ? Number(value) : value;
    const cell = isJson ? JSON.stringify(value) : (bound as SqlValue);
    return { column: raw(toSnakeCase(name)), value: sql`${cell}` };
  });
}

/** What runs statements of D1: the database, or a session of it. */
type D1 = Pick<D1Database, "prepare" | "batch">;

/**
 * Returns a session that reads the nearest copy of D1, which may lag. What isn't found there has to
 * be looked up in the primary, and what is found confirmed, if it must hold now.
 */
export function nearestReplica(db: D1Database): D1DatabaseSession {
  return setCount(db.withSession("first-unconstrained"), countOf(db));
}

/** Runs statements in D1 in one transaction. Returns the result of each. */
export async function batch<Row>(db: D1, statements: readonly SqlFragment[]) {
  const count = countOf(db);
  count("queries", statements.length);
  count("subrequests", 1);
  const prepared = statements.map((each) => db.prepare(each.sql).bind(...each.bindings));
  const [only] = prepared;
  const results = prepared.length === 1 ? [await only!.all<Row>()] : await db.batch<Row>(prepared);
  for (const { meta } of results) {
    count("rowsRead", meta.rows_read);
    count("rowsWritten", meta.rows_written);
  }
  return results;
}

type Template = Parameters<typeof sql>;

/** Runs a template as a statement in D1: ``d1(db).all<Row>`SELECT …` ``. */
export function d1(db: D1) {
  const run = async <Row>(...text: Template) => (await batch<Row>(db, [sql(...text)]))[0]!;
  const all = async <Row>(...text: Template) => (await run<Row>(...text)).results;
  const first = async <Row>(...text: Template) => (await all<Row>(...text))[0] ?? null;
  /** Returns the only column of the first row; null if there is none. */
  const firstValue = async <Value>(...text: Template): Promise<Value | null> => {
    const row = await first<Record<string, Value>>(...text);
    return row && Object.values(row)[0]!;
  };
  return { run, all, first, firstValue };
}

/**
 * Round-robin over accounts, so that one account can't starve the cron. Within an account the order
 * is random: rows that fail each time don't hold up others.
 */
export const IN_TURN = raw(`ORDER BY
  ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY random()), random()`);

/** Tests a column for membership in a list, which is bound as one JSON parameter. */
export function inList(values: readonly (string | number)[]): SqlFragment {
  return sql`IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;
}

/**
 * Encodes rows as JSON arrays to bind, of at most 200 rows and, unless a single row is larger,
 * 250,000 characters each. A parameter may have 2 MB.
 */
export function inChunks(rows: object[]): string[] {
  const chunks: string[][] = [];
  let size = Infinity;
  for (const row of rows) {
    const text = JSON.stringify(row);
    size += text.length;
    if (size > CHUNK.maxCharacters || chunks.at(-1)!.length === CHUNK.maxRows) {
      chunks.push([]);
      size = text.length;
    }
    chunks.at(-1)!.push(text);
  }
  return chunks.map((chunk) => `[${chunk.join(",")}]`);
}

const CHUNK = { maxRows: 200, maxCharacters: 250_000 } as const;

/** Parses the columns of a row that contain JSON, which is stored as text. */
export function parseColumns<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Row {
  const parsed = { ...row };
  for (const column of columns) {
    const text = row[column];
    if (typeof text === "string") parsed[column] = JSON.parse(text) as Row[keyof Row];
  }
  return parsed;
}

/** Rows of a statement as arrays, so that the object's one thread makes no objects of them. */
export interface SqlRows {
  columns: string[];
  rows: SqlStorageValue[][];
  /** Whether more rows would have made the answer too large: `ANSWER_BYTES`. */
  isCut?: boolean;
}

/**
 * Bytes of rows in an answer of an index's database, by `bytesOf`. An answer may have 32 MiB (RPC
 * of Durable Objects), and has counts and ids, too.
 */
export const ANSWER_BYTES = 24 * 1024 ** 2;

export function toObjects<Row>({ columns, rows }: SqlRows): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row);
}

export interface Page<Item> {
  items: Item[];
  total: number;
  /** Id of the last item, if another page follows; else null. */
  next: string | null;
}

export interface PageRequest {
  limit: number;
  /** Id of the last item of the page before; empty for the first page. */
  after: string;
}

/** Makes a page of `limit` items from up to `limit + 1` rows. */
export function toPage<Item>(
  rows: Item[],
  total: number,
  limit: number,
  idOf: (item: Item) => string,
): Page<Item> {
  const items = rows.slice(0, limit);
  return { items, total, next: rows.length > limit ? idOf(items.at(-1)!) : null };
}

/**
 * Reads a page of a list in D1, in the order of ids: columns of the rows that `from` selects, which
 * ends with a condition, and their number.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- that of `toItem`
export async function readPage<Row, Item>(
  db: D1,
  { columns, from, id }: { columns: SqlFragment; from: SqlFragment; id: keyof Item & string },
  { limit, after }: PageRequest,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  const column = raw(toSnakeCase(id));
  const [rows, counted] = await batch<Row & { total: number }>(db, [
    sql`SELECT ${columns} ${from} AND ${column} > ${after} ORDER BY ${column} LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total ${from}`,
  ]);
  const total = counted!.results[0]!.total;
  return toPage(rows!.results.map(toItem), total, limit, (item) => item[id] as string);
}

/** Selects the ids, as `id`, for which `row`, a query on their `value`, returns nothing. */
export function whereMissing(ids: string[], row: SqlFragment): SqlFragment {
  return sql`SELECT value AS id FROM json_each(${JSON.stringify(ids)}) WHERE NOT EXISTS (${row})`;
}
