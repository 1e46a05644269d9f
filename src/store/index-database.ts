import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import type { SegmentQuery, SegmentRows } from "./segment-query.ts";
import { type SqlFragment, toObjects } from "./sql.ts";

/** Delays before a call is repeated whose object was restarted, as each deployment does. */
const RETRY_MS = [20, 100];

/**
 * The database of an index: `durable/index-database.ts`. That of an index that is being deleted has
 * no rows, and ignores writes. Statements may run twice. Methods throw `upstream_unavailable` if
 * the object is overloaded, or stays out of reach, and `account_full` if it has no room left.
 */
export class IndexDb {
  readonly indexId: IndexId;
  readonly #env: Pick<Env, "INDEX_DATABASE">;

  constructor(env: Pick<Env, "INDEX_DATABASE">, indexId: IndexId) {
    this.#env = env;
    this.indexId = indexId;
  }

  /** Runs statements in one transaction. Returns the rows of each. */
  async batch(statements: readonly SqlFragment[]): Promise<unknown[][]> {
    const results = await this.#call((object) => object.batch(statements));
    return results?.map(toObjects) ?? statements.map(() => []);
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
  querySegments(query: SegmentQuery): Promise<SegmentRows | null> {
    return this.#call((object) => object.querySegments(query));
  }

  /** Deletes all rows for good, because the index is being deleted. */
  close(): Promise<void> {
    return this.#call((object) => object.close());
  }

  async #call<T>(method: (object: DatabaseObject) => Promise<T>): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return await method(this.#env.INDEX_DATABASE.getByName(this.indexId));
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
  const message = "The index is full: its database has 10 GB. Add files to another index.";
  return new AppError("account_full", message, { cause });
}

function databaseUnavailable(cause: unknown): AppError {
  const message = "The database of the index does not answer; try again.";
  return new AppError("upstream_unavailable", message, { cause });
}

type DatabaseObject = ReturnType<Env["INDEX_DATABASE"]["getByName"]>;

/** Returns the database of the index that something belongs to. */
export function indexDatabase(
  env: Pick<Env, "INDEX_DATABASE">,
  { indexId }: { indexId: IndexId },
): IndexDb {
  return new IndexDb(env, indexId);
}
