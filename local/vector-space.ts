import { DurableObject } from "cloudflare:workers";
import type { LocalEnv, MetadataType, SpaceProps } from "./env.ts";
import { facetAt, matches, type Condition } from "./vector-filter.ts";
import { type Facets, type Scalar, TopMatches, VectorRows } from "./vector-rows.ts";
import { migrateSpace } from "./vector-schema.ts";

type SpaceEnv = Pick<LocalEnv, "VECTORIZE_LAG_MS">;

const CACHE_BYTES = 512 * 1024 * 1024;
const SCAN_ROWS = 16_384;
const MAX_METADATA_INDEXES = 10;
const INDEXED_BYTES = 64;

/** `values` has no trailing zeros; `metadata` is JSON; no namespace is `""`. */
export interface StoredVector {
  id: string;
  namespace: string;
  values: Float32Array;
  metadata: string | null;
}

export interface SpaceQuery {
  vector: Float32Array | { id: string };
  topK: number;
  namespace: string | undefined;
  conditions: Condition[];
}

export interface SpaceVector extends StoredVector {
  indexed: Facets;
}

export interface SpaceMatch extends SpaceVector {
  score: number;
}

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  namespace: string;
  vector: ArrayBuffer;
  metadata: string | null;
  indexed: string;
}

/** One vector index: exact cosine search, writes that show after `VECTORIZE_LAG_MS`. */
export class VectorSpace extends DurableObject<SpaceEnv> {
  readonly #sql: SqlStorage;
  readonly #cache = new Map<string, VectorRows>();

  constructor(ctx: DurableObjectState, env: SpaceEnv) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    migrateSpace(this.#sql);
  }

  /** Queues a write and returns its mutation id; the metadata indexes of this moment cover it. */
  write(kind: "insert" | "upsert", vectors: StoredVector[], props: SpaceProps): string {
    this.#createFirstIndexes(props);
    const types = this.#metadataIndexes();
    return this.#enqueue(kind, (seq) => {
      for (const { id, namespace, values, metadata } of vectors) {
        this.#sql.exec(
          "INSERT OR REPLACE INTO changes (seq, id, namespace, vector, metadata, indexed) VALUES (?, ?, ?, ?, ?, ?)",
          seq,
          id,
          namespace,
          values,
          metadata,
          JSON.stringify(facetsOf(metadata, types)),
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

  /** Best first; null where the query names a vector that isn't there. */
  query({ vector, topK, namespace, conditions }: SpaceQuery): SpaceMatch[] | null {
    this.#settle();
    const query = vector instanceof Float32Array ? vector : this.#find(vector.id)?.values;
    if (!query) return null;
    const top = new TopMatches(topK);
    const accepts = (facets: Facets) => matches(conditions, facets);
    for (const name of namespace === undefined ? this.#namespaces() : [namespace]) {
      for (const rows of this.#rows(name)) rows.scan(query, accepts, top);
    }
    return top.sorted.flatMap(({ id, score }) => {
      const found = this.#find(id);
      return found ? [{ ...found, score }] : [];
    });
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
    const [last] = this.#sql
      .exec<{ mutation: string; processedAt: number }>(
        "SELECT id AS mutation, processed_at AS processedAt FROM mutations WHERE processed_at IS NOT NULL ORDER BY seq DESC LIMIT 1",
      )
      .toArray();
    return {
      vectorCount,
      processedAt: last?.processedAt ?? null,
      mutation: last?.mutation ?? null,
    };
  }

  /** False where the space already has as many metadata indexes as it may. */
  createMetadataIndex(property: string, type: MetadataType, props: SpaceProps): boolean {
    this.#createFirstIndexes(props);
    const types = this.#metadataIndexes();
    if (!(property in types) && Object.keys(types).length >= MAX_METADATA_INDEXES) return false;
    this.#sql.exec("INSERT OR REPLACE INTO metadata_indexes VALUES (?, ?)", property, type);
    return true;
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
    this.ctx.storage.transactionSync(() => {
      const { seq } = this.#sql
        .exec<{ seq: number }>(
          "INSERT INTO mutations (id, kind, due_at) VALUES (?, ?, ?) RETURNING seq",
          id,
          kind,
          Date.now() + Number(this.env.VECTORIZE_LAG_MS),
        )
        .one();
      fill(seq);
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

  /** The rows of a namespace: in one piece and kept where they fit, else piece by piece. */
  *#rows(namespace: string): Generator<VectorRows> {
    const kept = this.#cache.get(namespace);
    if (kept) {
      this.#cache.delete(namespace);
      this.#cache.set(namespace, kept); // the most recently used is last
      yield kept;
      return;
    }
    const { count, bytes } = this.#sql
      .exec<{ count: number; bytes: number }>(
        "SELECT COUNT(*) AS count, COALESCE(MAX(LENGTH(vector)), 0) AS bytes FROM vectors WHERE namespace = ?",
        namespace,
      )
      .one();
    const keeps = count * bytes <= CACHE_BYTES;
    let rows = new VectorRows(bytes / Float32Array.BYTES_PER_ELEMENT);
    for (const { id, vector, indexed } of this.#sql.exec<Row>(
      "SELECT * FROM vectors WHERE namespace = ?",
      namespace,
    )) {
      rows.set(id, new Float32Array(vector), indexed);
      if (keeps || rows.size < SCAN_ROWS) continue;
      yield rows;
      rows = new VectorRows(bytes / Float32Array.BYTES_PER_ELEMENT);
    }
    if (keeps) this.#cache.set(namespace, rows);
    yield rows;
    this.#trim();
  }

  /** Forgets the least recently used namespaces while the kept ones are too large. */
  #trim(): void {
    let total = [...this.#cache.values()].reduce((sum, rows) => sum + rows.bytes, 0);
    for (const [name, rows] of this.#cache) {
      if (total <= CACHE_BYTES) break;
      this.#cache.delete(name);
      total -= rows.bytes;
    }
  }

  #find(id: string): SpaceVector | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM vectors WHERE id = ?", id).toArray();
    if (!row) return undefined;
    const { namespace, vector, metadata } = row;
    const indexed: Facets = JSON.parse(row.indexed);
    return { id, namespace, values: new Float32Array(vector), metadata, indexed };
  }
}

/** What the metadata indexes hold of a vector: null where the value is missing or of another type. */
function facetsOf(metadata: string | null, types: Record<string, MetadataType>): Facets {
  const parsed: unknown = metadata === null ? {} : JSON.parse(metadata);
  return Object.fromEntries(
    Object.entries(types).map(([property, type]) => {
      const value = facetAt(parsed, property);
      return [property, typeof value === type ? truncated(value) : null];
    }),
  );
}

/** Strings are indexed by their first 64 bytes, cut between characters. */
function truncated(value: Scalar): Scalar {
  if (typeof value !== "string" || Buffer.byteLength(value) <= INDEXED_BYTES) return value;
  let text = "";
  for (const character of value) {
    if (Buffer.byteLength(text + character) > INDEXED_BYTES) break;
    text += character;
  }
  return text;
}
