import { AppError } from "../../errors.ts";
import type { IndexId, SegmentId } from "../../ids.ts";
import { objectMethods } from "../../object-calls.ts";
import type { Asset, MediaIndexRow } from "../../types.ts";
import { type SqlFragment, type SqlRows, toObjects } from "../sql.ts";
import type { AssetScope } from "./asset-scope.ts";
import type { FtsSearch } from "./fulltext.ts";

type ShardRef = Pick<Asset, "indexId" | "shard">;

export type Databases = Pick<Env, "DB" | "INDEX_DATABASE">;

/** Result of a method of the object; null if the index is being deleted. */
export interface DatabaseResult<Value> {
  value: Value | null;
  rowsRead: number;
  rowsWritten: number;
}

/**
 * FTS5 expressions that a segment's text must match and must not match, or the names of its asset;
 * null for none.
 */
interface MatchRules {
  must: string | null;
  mustNot: string | null;
  /** The same as `must` for names; null where these don't count. */
  mustOfNames: string | null;
}

/** What a search asks an index's database, in one call. */
export interface SegmentQuery {
  scope: AssetScope;
  /** The full-text search, whose hits need not match `rules`; null for none. */
  fullText: FtsSearch | null;
  /** Counts of the database and of its whole index, if that has several; else null. */
  counts: { database: TermCounts; index: TermCounts } | null;
  /** Segments that other channels have found. */
  ids: readonly string[];
  /** Segments whose rows aren't needed. */
  excludedIds: readonly string[];
  rules: MatchRules;
  /** Bytes that the rows of the answer may take: beyond, the last candidates are left out. */
  maxBytes: number;
}

/** How many segments of a database, or of several, have the terms of a full-text search. */
export interface TermCounts {
  /** Segments, with or without text. */
  total: number;
  /** Segments with text. */
  withText: number;
  /** Segments that contain each of `termsOf`, in the columns that are searched. */
  matches: number[];
  /** Segments that contain a stem in any column; stems that none contains are left out. */
  stems: { stem: string; count: number }[];
}

/**
 * The answer: rows of the full-text hits and of `ids`, those in scope that match the rules, as many
 * as `maxBytes` allow.
 */
export interface SegmentRows {
  /** The best full-text hits in scope, with their BM25, best first. */
  fullTextHits: FtsHit[];
  /** The first segments of the assets in scope whose names match best. */
  namedIds: SegmentId[];
  /** Counts of the database, for weights of the terms. */
  counts: Pick<TermCounts, "total" | "stems">;
  segments: SqlRows;
  assets: SqlRows;
}

export interface FtsHit {
  segmentId: SegmentId;
  /** Higher is better; about 0 if most segments contain the words. */
  bm25: number;
}

/**
 * The database of a shard: `durable/index-database.ts`. That of an index that is being deleted has
 * no rows, and ignores writes. Statements may run twice. Methods throw what `objectMethods` does,
 * and `account_full` if the object has no room left.
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

  /**
   * Runs statements in one transaction. Returns the rows of each. Throws `too_large` for more than
   * an answer has: use `page` or `allByPosition` for statements that return texts.
   */
  async batch(statements: readonly SqlFragment[]): Promise<unknown[][]> {
    const { value } = await this.#call((object) => object.batch(statements));
    if (value?.some(({ isCut }) => isCut)) {
      const message = "This is more than the index's database answers at a time; ask for less.";
      throw new AppError("too_large", message);
    }
    return value?.map(toObjects) ?? statements.map(() => []);
  }

  async all<Row>(statement: SqlFragment): Promise<Row[]> {
    const [rows] = await this.batch([statement]);
    return rows as Row[];
  }

  /**
   * Returns the first rows of a statement, as many as an answer has. `cutAfter` is the last of them
   * if there are more, else null.
   */
  async page<Row>(statement: SqlFragment): Promise<{ rows: Row[]; cutAfter: Row | null }> {
    const { value } = await this.#call((object) => object.batch([statement]));
    const [answer] = value ?? [];
    const rows = answer ? toObjects<Row>(answer) : [];
    return { rows, cutAfter: answer?.isCut === true ? rows.at(-1)! : null };
  }

  /**
   * Returns all rows of a list in the order of positions, in as many calls as it takes.
   * `statementAfter` selects those behind a position, from -1 on.
   */
  async allByPosition<Row extends { position: number }>(
    statementAfter: (position: number) => SqlFragment,
  ): Promise<Row[]> {
    const all: Row[] = [];
    for (let after: number | undefined = -1; after !== undefined;) {
      const { rows, cutAfter }: { rows: Row[]; cutAfter: Row | null } = await this.page<Row>(
        statementAfter(after),
      );
      for (const row of rows) all.push(row);
      after = cutAfter?.position;
    }
    return all;
  }

  async first<Row>(statement: SqlFragment): Promise<Row | null> {
    return (await this.all<Row>(statement))[0] ?? null;
  }

  async querySegments(query: SegmentQuery): Promise<SegmentRows | null> {
    return (await this.#call((object) => object.querySegments(query))).value;
  }

  /** Counts the segments with the terms of a search; null if the index is being deleted. */
  async countTerms(search: FtsSearch): Promise<TermCounts | null> {
    return (await this.#call((object) => object.countTerms(search))).value;
  }

  size(): Promise<number> {
    return this.#call((object) => object.size());
  }

  /** Deletes all rows for good, because the index is being deleted. */
  close(): Promise<void> {
    return this.#call((object) => object.close());
  }

  async #call<T>(method: (object: DatabaseObject) => Promise<T>): Promise<T> {
    try {
      return await method(
        objectMethods(this.#env, "INDEX_DATABASE", this.#name, "The database of the index"),
      );
    } catch (cause) {
      if (!(cause instanceof Error && cause.message.includes("SQLITE_FULL"))) throw cause;
      const message =
        "The database of the asset has 10 GB. Delete it, and add it again: a new one is used.";
      throw new AppError("account_full", message, { cause });
    }
  }
}

type DatabaseObject = ReturnType<Env["INDEX_DATABASE"]["getByName"]>;

export function indexDatabase(env: Pick<Env, "INDEX_DATABASE">, ref: ShardRef): IndexDb {
  return new IndexDb(env, ref);
}

export function indexDatabases(
  env: Pick<Env, "INDEX_DATABASE">,
  { indexId, shards }: Pick<MediaIndexRow, "indexId" | "shards">,
): IndexDb[] {
  return shards.map(({ shard }) => new IndexDb(env, { indexId, shard }));
}

/** Returns the rows of a statement in several databases, those of the first one first. */
export async function allRows<Row>(databases: readonly IndexDb[], statement: SqlFragment) {
  return (await Promise.all(databases.map((db) => db.all<Row>(statement)))).flat();
}
