import { raceAbort } from "../concurrency.ts";
import { AppError, failureOf, traceOf } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import { log } from "../log.ts";
import type { FtsSearch } from "../store/index-database/fulltext.ts";
import {
  indexDatabases,
  IndexDb,
  type SegmentQuery,
  type SegmentRows,
  type TermCounts,
} from "../store/index-database/index-database.ts";
import type { NamedIndexRef } from "../types.ts";

export type SearchTarget = NamedIndexRef | IndexGroup;

/** An index whose hits are missing or incomplete, and why, as a sentence for the user. */
export interface PartialIndex {
  name: string;
  reason: string;
}

/**
 * Several indices of one account that are searched as one: with one set of document frequencies,
 * and one list of nearest vectors. An index whose database fails, or that is late, is left out of
 * the rest of the search; one whose vectors fail is searched by its text.
 */
export class IndexGroup {
  readonly indices: readonly NamedIndexRef[];
  readonly #timeoutMs: number;
  readonly #failures = new Map<IndexId, unknown>();
  readonly #closed = new Set<IndexId>();

  /** `timeoutMs` is the time that an index has for one call of the search. */
  constructor(indices: readonly NamedIndexRef[], timeoutMs: number) {
    this.indices = indices;
    this.#timeoutMs = timeoutMs;
  }

  /** Indices that failed, in the order of the group. */
  get partial(): PartialIndex[] {
    return this.indices
      .filter(({ indexId }) => this.#failures.has(indexId))
      .map(({ indexId, name }) => {
        return { name, reason: failureOf(this.#failures.get(indexId)).message };
      });
  }

  /** Throws the first failure if each index has one. */
  throwIfAllFailed(): void {
    const { size } = this.#failures;
    if (size > 0 && size === this.indices.length) throw this.firstFailure;
  }

  /** Returns the first failure: what isn't found may be in that index. */
  get firstFailure(): unknown {
    const [first] = this.#failures.values();
    return first;
  }

  /** Queries the database of an index; null if it fails, is late, or has failed before. */
  queryDatabase<T>(indexId: IndexId, query: () => Promise<T>): Promise<T | null> {
    return this.#attempt(indexId, query, () => this.#closed.add(indexId));
  }

  /** Queries the vectors of an index; null if that fails, is late, or its database has failed. */
  queryVectors<T>(indexId: IndexId, query: () => Promise<T>): Promise<T | null> {
    return this.#attempt(indexId, query, () => {});
  }

  async #attempt<T>(
    indexId: IndexId,
    call: () => Promise<T>,
    onFailure: () => void,
  ): Promise<T | null> {
    if (this.#closed.has(indexId)) return null;
    const late = new AbortController();
    const message = `The index did not answer within ${this.#timeoutMs / 1000} s; try again.`;
    const reason = new AppError("upstream_timeout", message);
    const timer = setTimeout(() => late.abort(reason), this.#timeoutMs);
    try {
      return await raceAbort(late.signal, call());
    } catch (error) {
      if (!this.#failures.has(indexId)) {
        const cause = traceOf(error);
        log("warn", "search.index_unavailable", { indexId, code: failureOf(error).code, cause });
        this.#failures.set(indexId, error);
      }
      onFailure();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A database of a group's index, which answers as an empty one does once its index has failed. */
class GroupDb extends IndexDb {
  readonly #group: IndexGroup;

  constructor(env: Env, ref: ConstructorParameters<typeof IndexDb>[1], group: IndexGroup) {
    super(env, ref);
    this.#group = group;
  }

  override async batch(statements: Parameters<IndexDb["batch"]>[0]): Promise<unknown[][]> {
    const rows = await this.#group.queryDatabase(this.indexId, () => super.batch(statements));
    return rows ?? statements.map(() => []);
  }

  override querySegments(query: SegmentQuery): Promise<SegmentRows | null> {
    return this.#group.queryDatabase(this.indexId, () => super.querySegments(query));
  }

  override countTerms(search: FtsSearch): Promise<TermCounts | null> {
    return this.#group.queryDatabase(this.indexId, () => super.countTerms(search));
  }
}

export function listIndices(target: SearchTarget): readonly NamedIndexRef[] {
  return target instanceof IndexGroup ? target.indices : [target];
}

export function targetDatabases(env: Env, target: SearchTarget): IndexDb[] {
  if (!(target instanceof IndexGroup)) return indexDatabases(env, target);
  return target.indices.flatMap(({ indexId, shards }) =>
    shards.map(({ shard }) => new GroupDb(env, { indexId, shard }, target)),
  );
}

/** Makes the error of an id that no index of a target has: `what` is "segment" or the like. */
export function notFoundIn(target: SearchTarget, what: string, id: string): unknown {
  const isGroup = target instanceof IndexGroup;
  const where = isGroup ? "these indices" : "this index";
  const error = new AppError("not_found", `There is no ${what} "${id}" in ${where}.`);
  return (isGroup ? target.firstFailure : null) ?? error;
}
