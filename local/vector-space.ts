import { DurableObject } from "cloudflare:workers";
import { storeRows, takeRows } from "./row-cache.ts";
import dots from "./vector-dots.wasm";
import { type MetadataType, toFacets } from "./vector-facets.ts";
import { matches } from "./vector-filter.ts";
import type { QueryPlan, StoredVector } from "./vector-limits.ts";
import { type Facets, type Match, TopMatches, VectorRows } from "./vector-rows.ts";
import { migrateSpace } from "./vector-schema.ts";

export interface SpaceEnv {
  /** Milliseconds until a write becomes visible, at most. Each takes a random share of it. */
  VECTORIZE_LAG_MS: string;
}

/** Properties of a space's binding: in production `wrangler vectorize create` fixes them. */
export interface SpaceProps {
  name: string;
  dimensions: number;
  /** Indexes created before the first vector, as the setup command does in production. */
  metadata_indexes: Record<string, MetadataType>;
}

const CACHE_BYTES = 512 * 1024 * 1024;
const BLOCK_ROWS = 16_384;
const MAX_METADATA_INDEXES = 10;

export interface SpaceQuery extends QueryPlan {
  vector: Float32Array | { id: string };
}

export interface SpaceVector extends StoredVector {
  indexed: Facets;
}

/** A match. Fields that weren't requested are null: reading them costs more than the search. */
export interface SpaceMatch extends Pick<StoredVector, "id" | "namespace" | "metadata"> {
  values: Float32Array | null;
  indexed: Facets | null;
  score: number;
}

interface MatchRow extends Record<string, SqlStorageValue> {
  id: string;
  namespace: string;
  vector: ArrayBuffer | null;
  metadata: string | null;
  indexed: string | null;
}

interface Row extends MatchRow {
  vector: ArrayBuffer;
  indexed: string;
}

/** One vector index: exact cosine search, writes visible within `VECTORIZE_LAG_MS`, in order. */
export class VectorSpace extends DurableObject<SpaceEnv> {
  readonly #sql: SqlStorage;
  readonly #cache: Map<string, VectorRows>;

  constructor(ctx: DurableObjectState, env: SpaceEnv) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    migrateSpace(this.#sql);
    this.#cache = takeRows(ctx.id.toString(), this.#lastMutation()?.id ?? null);
  }

  /** Queues a write and returns its mutation id. Only metadata indexes that exist now cover it. */
  write(kind: "insert" | "upsert", vectors: StoredVector[], props: SpaceProps): string {
    this.#createFirstIndexes(props);
    const types = this.#metadataIndexes();
    return this.#enqueue(kind, (seq) => {
      for (const { id, namespace, values, metadata } of vectors) {
        this.#sql.exec(
          `INSERT OR REPLACE INTO changes (seq, id, namespace, vector, metadata, indexed)
           VALUES (?, ?, ?, ?, ?, ?)`,
          seq,
          id,
          namespace,
          values,
          metadata,
          JSON.stringify(toFacets(metadata, types)),
        );
      }
    });
  }

  delete(ids: string[]): string {
    return this.#enqueue("delete", (seq) => {
      for (const id of ids) {
        this.#sql.exec("INSERT OR REPLACE INTO changes (seq, id) VALUES (?, ?)", seq, id);
      }
    });
  }

  /** Returns matches, best first; null if the query names a vector that does not exist. */
  query(request: SpaceQuery): SpaceMatch[] | null {
    const { vector, topK, namespace, conditions } = request;
    this.#settle();
    const query = vector instanceof Float32Array ? vector : this.#find(vector.id)?.values;
    if (!query) return null;
    const top = new TopMatches(topK);
    const accepts = (facets: Facets) => matches(conditions, facets);
    for (const name of namespace === undefined ? this.#namespaces() : [namespace]) {
      for (const rows of this.#rows(name)) rows.scan(query, accepts, top);
    }
    return this.#hydrate(top.sorted, request);
  }

  get(ids: string[]): SpaceVector[] {
    this.#settle();
    return ids.flatMap((id) => this.#find(id) ?? []);
  }

  describe(): { vectorCount: number; processedAt: number | null; mutation: string | null } {
    this.#settle();
    const { vectorCount } = this.#sql
      .exec<{ vectorCount: number }>("SELECT COUNT(*) AS vectorCount FROM vectors")
      .one();
    const last = this.#lastMutation();
    return {
      vectorCount,
      processedAt: last?.processedAt ?? null,
      mutation: last?.id ?? null,
    };
  }

  /** Returns false if the space already has the maximum number of metadata indexes. */
  createMetadataIndex(property: string, type: MetadataType, props: SpaceProps): boolean {
    this.#createFirstIndexes(props);
    const types = this.#metadataIndexes();
    if (!(property in types) && Object.keys(types).length >= MAX_METADATA_INDEXES) return false;
    this.#sql.exec("INSERT OR REPLACE INTO metadata_indexes VALUES (?, ?)", property, type);
    return true;
  }

  #lastMutation(): { id: string; processedAt: number } | undefined {
    const [last] = this.#sql.exec<{ id: string; processedAt: number }>(
      `SELECT id, processed_at AS processedAt FROM mutations
       WHERE processed_at IS NOT NULL ORDER BY seq DESC LIMIT 1`,
    );
    return last;
  }

  #createFirstIndexes({ metadata_indexes }: SpaceProps): void {
    if (Object.keys(this.#metadataIndexes()).length > 0) return;
    for (const [property, type] of Object.entries(metadata_indexes)) {
      this.#sql.exec("INSERT INTO metadata_indexes VALUES (?, ?)", property, type);
    }
  }

  #metadataIndexes(): Record<string, MetadataType> {
    const rows = this.#sql.exec<{ property: string; type: MetadataType }>(
      "SELECT property, type FROM metadata_indexes",
    );
    return Object.fromEntries(rows.toArray().map(({ property, type }) => [property, type]));
  }

  #enqueue(kind: string, fill: (seq: number) => void): string {
    this.#settle();
    const id = crypto.randomUUID();
    const lagMs = Math.ceil(Math.random() * Number(this.env.VECTORIZE_LAG_MS));
    this.ctx.storage.transactionSync(() => {
      const inserted = this.#sql.exec<{ seq: number }>(
        `INSERT INTO mutations (id, kind, due_at) VALUES (?, ?, MAX(?, COALESCE(
           (SELECT MAX(due_at) FROM mutations WHERE processed_at IS NULL), 0))) RETURNING seq`,
        id,
        kind,
        Date.now() + lagMs,
      );
      fill(inserted.one().seq);
    });
    return id;
  }

  #settle(): void {
    const due = this.#sql
      .exec<{ seq: number; kind: string }>(
        "SELECT seq, kind FROM mutations WHERE processed_at IS NULL AND due_at <= ? ORDER BY seq",
        Date.now(),
      )
      .toArray();
    for (const { seq, kind } of due) {
      this.ctx.storage.transactionSync(() => {
        this.#apply(seq, kind);
        this.#sql.exec("UPDATE mutations SET processed_at = ? WHERE seq = ?", Date.now(), seq);
        this.#refresh(seq);
        this.#sql.exec("DELETE FROM changes WHERE seq = ?", seq);
      });
      storeRows(this.ctx.id.toString(), this.#cache, this.#lastMutation()?.id ?? null);
    }
  }

  #apply(seq: number, kind: string): void {
    if (kind === "delete") {
      this.#sql.exec("DELETE FROM vectors WHERE id IN (SELECT id FROM changes WHERE seq = ?)", seq);
      return;
    }
    const verb = kind === "insert" ? "INSERT OR IGNORE" : "INSERT OR REPLACE";
    this.#sql.exec(
      `${verb} INTO vectors (id, namespace, vector, metadata, indexed)
       SELECT id, namespace, vector, metadata, indexed FROM changes WHERE seq = ?`,
      seq,
    );
  }

  #refresh(seq: number): void {
    if (this.#cache.size === 0) return;
    for (const { id } of this.#sql.exec<{ id: string }>(
      "SELECT id FROM changes WHERE seq = ?",
      seq,
    )) {
      for (const rows of this.#cache.values()) rows.delete(id);
    }
    const changed = this.#sql.exec<Row>(
      "SELECT v.* FROM vectors v JOIN changes c ON c.id = v.id WHERE c.seq = ?",
      seq,
    );
    for (const { id, namespace, vector, indexed } of changed) {
      const rows = this.#cache.get(namespace);
      if (rows && !rows.set(id, new Float32Array(vector), indexed)) this.#cache.delete(namespace);
    }
    this.#trim();
  }

  #namespaces(): string[] {
    const rows = this.#sql.exec<{ namespace: string }>("SELECT DISTINCT namespace FROM vectors");
    return rows.toArray().map(({ namespace }) => namespace);
  }

  /** Yields a namespace's rows: all at once and cached if they fit, else in blocks. */
  *#rows(namespace: string): Generator<VectorRows> {
    const cached = this.#cache.get(namespace);
    if (cached) {
      this.#cache.delete(namespace);
      this.#cache.set(namespace, cached); // the most recently used is last
      yield cached;
      return;
    }
    const { count, bytes } = this.#sql
      .exec<{ count: number; bytes: number }>(
        `SELECT COUNT(*) AS count, COALESCE(MAX(LENGTH(vector)), 0) AS bytes
         FROM vectors WHERE namespace = ?`,
        namespace,
      )
      .one();
    const isCacheable = count * bytes <= CACHE_BYTES;
    const width = bytes / Float32Array.BYTES_PER_ELEMENT;
    let rows = new VectorRows(width, dots);
    for (const { id, vector, indexed } of this.#sql.exec<Pick<Row, "id" | "vector" | "indexed">>(
      "SELECT id, vector, indexed FROM vectors WHERE namespace = ?",
      namespace,
    )) {
      rows.set(id, new Float32Array(vector), indexed);
      if (isCacheable || rows.size < BLOCK_ROWS) continue;
      yield rows;
      rows = new VectorRows(width, dots);
    }
    if (isCacheable) this.#cache.set(namespace, rows);
    yield rows;
    this.#trim();
  }

  /** Evicts the least recently used namespaces until the cache fits. */
  #trim(): void {
    let total = [...this.#cache.values()].reduce((sum, rows) => sum + rows.bytes, 0);
    for (const [name, rows] of this.#cache) {
      if (total <= CACHE_BYTES) break;
      this.#cache.delete(name);
      total -= rows.bytes;
    }
  }

  /** Reads the requested fields of all matches by one statement. */
  #hydrate(matches: Match[], { returnValues, returnMetadata }: SpaceQuery): SpaceMatch[] {
    const rows = this.#sql.exec<MatchRow>(
      `SELECT id, namespace, ${returnValues ? "vector" : "NULL AS vector"},
         ${returnMetadata === "all" ? "metadata" : "NULL AS metadata"},
         ${returnMetadata === "indexed" ? "indexed" : "NULL AS indexed"}
       FROM vectors WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(matches.map(({ id }) => id)),
    );
    const byId = new Map(rows.toArray().map((row) => [row.id, row]));
    return matches.flatMap(({ id, score }) => {
      const row = byId.get(id);
      if (!row) return [];
      const indexed: Facets | null = row.indexed === null ? null : JSON.parse(row.indexed);
      const values = row.vector && new Float32Array(row.vector);
      return { id, namespace: row.namespace, metadata: row.metadata, values, indexed, score };
    });
  }

  #find(id: string): SpaceVector | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM vectors WHERE id = ?", id).toArray();
    if (!row) return undefined;
    const { namespace, vector, metadata } = row;
    const indexed: Facets = JSON.parse(row.indexed);
    return { id, namespace, values: new Float32Array(vector), metadata, indexed };
  }
}
