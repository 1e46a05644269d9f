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
      bindings.push(...value.bindings);
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

/** Makes a fragment of constant SQL, such as a list of columns. */
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
 * Returns a session that reads the nearest copy of D1, which may lag. What isn't found there has to
 * be looked up in the primary, and what is found confirmed, if it must hold now.
 */
export function nearestReplica(db: D1Database): D1DatabaseSession {
  return db.withSession("first-unconstrained");
}

/** What runs statements of D1: the database, or a session of it. */
type D1 = Pick<D1Database, "prepare" | "batch">;

function prepare(db: D1, { sql: text, bindings }: SqlFragment): D1PreparedStatement {
  return db.prepare(text).bind(...bindings);
}

/** Runs a statement in D1. */
export function run<Row>(db: D1, statement: SqlFragment): Promise<D1Result<Row>> {
  return prepare(db, statement).run<Row>();
}

/** Returns all rows of a statement in D1. */
export async function all<Row>(db: D1, statement: SqlFragment): Promise<Row[]> {
  return (await prepare(db, statement).all<Row>()).results;
}

/** Returns the first row of a statement in D1, or null. */
export function first<Row>(db: D1, statement: SqlFragment): Promise<Row | null> {
  return prepare(db, statement).first<Row>();
}

/** Returns the only column of the first row of a statement in D1; null if there is none. */
export async function firstValue<Value>(db: D1, statement: SqlFragment): Promise<Value | null> {
  const row = await first<Record<string, Value>>(db, statement);
  return row && Object.values(row)[0]!;
}

/** Runs statements in D1 in one transaction. Returns the result of each. */
export function batch<Row>(db: D1, statements: readonly SqlFragment[]): Promise<D1Result<Row>[]> {
  return db.batch<Row>(statements.map((statement) => prepare(db, statement)));
}

/**
 * Orders rows of all accounts, of which a run of the cron takes the first ones. Each account has
 * its turn, however many rows another has. Chance decides within one, so that rows which fail each
 * time don't hold up others.
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

/** Makes an object of each row, with the columns as fields. */
export function toObjects<Row>({ columns, rows }: SqlRows): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row);
}

/** A page of a list. */
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

/** Selects the ids, as `id`, for which `row`, a query on their `value`, returns nothing. */
export function whereMissing(ids: string[], row: SqlFragment): SqlFragment {
  return sql`SELECT value AS id FROM json_each(${JSON.stringify(ids)}) WHERE NOT EXISTS (${row})`;
}
