import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import type { Asset, MediaIndexRow } from "../types.ts";
import type { FtsSearch } from "./fulltext.ts";
import type { SegmentQuery, SegmentRows, TermCounts } from "./segment-query.ts";
import { type SqlFragment, toObjects } from "./sql.ts";

/** A database of an index, by its number. */
type ShardRef = Pick<Asset, "indexId" | "shard">;

/** Result of a method of the object; null if the index is being deleted. */
export interface DatabaseResult<Value> {
  value: Value | null;
  rowsRead: number;
  rowsWritten: number;
}

/** Delays before a call is repeated whose object was restarted, as each deployment does. */
const RETRY_MS = [20, 100];

/**
 * The database of a shard: `durable/index-database.ts`. That of an index that is being deleted has
 * no rows, and ignores writes. Statements may run twice. Methods throw `upstream_unavailable` if
 * the object is overloaded, or stays out of reach, and `account_full` if it has no room left.
 */
export class IndexDb {
  readonly indexId: IndexId;
  readonly #env: Pick<Env, "INDEX_DATABASE">;
  readonly #name: string;

  constructor(env: Pick<Env, "INDEX_DATABASE">, { indexId, shard }: ShardRef) {
    this.#env = env;
    this.indexId = indexId;
    this.#name = shard === 0 ? indexId : `${indexId}/${shard}`;
  }

  /** Runs statements in one transaction. Returns the rows of each. */
  async batch(statements: readonly SqlFragment[]): Promise<unknown[][]> {
    const { value } = await this.#call((object) => object.batch(statements));
    return value?.map(toObjects) ?? statements.map(() => []);
  }

  async all<Row>(statement: SqlFragment): Promise<Row[]> {
    const [rows] = await this.batch([statement]);
    return rows as Row[];
  }

  /** Returns the first row, or null. */
  async first<Row>(statement: SqlFragment): Promise<Row | null> {
    return (await this.all<Row>(statement))[0] ?? null;
  }

  /** Runs `SegmentQuery`; null if the index is being deleted. */
  async querySegments(query: SegmentQuery): Promise<SegmentRows | null> {
    return (await this.#call((object) => object.querySegments(query))).value;
  }

  /** Counts the segments with the terms of a search; null if the index is being deleted. */
  async countTerms(search: FtsSearch): Promise<TermCounts | null> {
    return (await this.#call((object) => object.countTerms(search))).value;
  }

  /** Returns the bytes of the database. */
  size(): Promise<number> {
    return this.#call((object) => object.size());
  }

  /** Deletes all rows for good, because the index is being deleted. */
  close(): Promise<void> {
    return this.#call((object) => object.close());
  }

  async #call<T>(method: (object: DatabaseObject) => Promise<T>): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return await method(this.#env.INDEX_DATABASE.getByName(this.#name));
      } catch (cause) {
        if (isFull(cause)) throw databaseFull(cause);
        const { retryable, overloaded } = cause as ObjectError;
        if (!retryable && !overloaded) throw cause;
        const delay = overloaded ? undefined : RETRY_MS[retries];
        if (delay === undefined) throw databaseUnavailable(cause);
        await scheduler.wait(delay);
      }
    }
  }
}

/** An error of a call of an object: the platform's have one of these properties. */
interface ObjectError {
  retryable?: boolean;
  overloaded?: boolean;
}

function isFull(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes("SQLITE_FULL");
}

function databaseFull(cause: unknown): AppError {
  const message =
    "The database of the asset has 10 GB. Delete it, and add it again: a new one is used.";
  return new AppError("account_full", message, { cause });
}

function databaseUnavailable(cause: unknown): AppError {
  const message = "The database of the index does not answer; try again.";
  return new AppError("upstream_unavailable", message, { cause });
}

type DatabaseObject = ReturnType<Env["INDEX_DATABASE"]["getByName"]>;

/** Returns the database of the shard that something belongs to. */
export function indexDatabase(env: Pick<Env, "INDEX_DATABASE">, ref: ShardRef): IndexDb {
  return new IndexDb(env, ref);
}

/** Returns the databases of an index, in the order of its shards. */
export function indexDatabases(
  env: Pick<Env, "INDEX_DATABASE">,
  { indexId, shards }: Pick<MediaIndexRow, "indexId" | "shards">,
): IndexDb[] {
  return shards.map(({ shard }) => new IndexDb(env, { indexId, shard }));
}
