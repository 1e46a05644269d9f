import { splitRows } from "../../../tools/segment-batch.ts";
import {
  dataFolder,
  type Baseline,
  requireBaselinePackage,
  serveBaseline,
  segmentText,
} from "../baseline-server.ts";

/** Row count from which the vectors get an index; the library advises against one below. */
const INDEX_FROM = 50_000;

interface Row extends Record<string, unknown> {
  segmentId: string;
  text: string;
}

/** The part of the package that is used here. */
interface Lance {
  connect(folder: string): Promise<{ createTable(name: string, rows: Row[]): Promise<Table> }>;
  Index: { fts(options: object): object; ivfPq(options: object): object };
  rerankers: { RRFReranker: { create(): Promise<object> } };
}

interface Table {
  add(rows: Row[]): Promise<unknown>;
  optimize(): Promise<unknown>;
  countRows(): Promise<number>;
  createIndex(column: string, options: { config: object; replace: boolean }): Promise<void>;
  query(): Query;
}

interface Query {
  fullTextSearch(text: string, options: { columns: string[] }): Query;
  nearestTo(vector: Float32Array): Query;
  distanceType(type: "cosine"): Query;
  bypassVectorIndex(): Query;
  rerank(reranker: object): Query;
  select(columns: string[]): Query;
  limit(count: number): Query;
  toArray(): Promise<(Row & { _relevance_score: number })[]>;
}

const lance: Lance = requireBaselinePackage("@lancedb/lancedb");
const database = await lance.connect(dataFolder());
const reranker = await lance.rerankers.RRFReranker.create();
let table: Table | null = null;

const baseline: Baseline = {
  async add({ segments, textVectors }) {
    const vectors = splitRows(textVectors, segments.length);
    const rows = segments.map((segment, at) => {
      const vector = Array.from(vectors[at] ?? []);
      return { segmentId: segment.segmentId, text: segmentText(segment), vector };
    });
    if (table) await table.add(rows);
    else table = await database.createTable("segments", rows);
  },
  async prepare() {
    if (!table) throw new Error("There are no rows yet.");
    await table.optimize();
    const ftsConfig = lance.Index.fts({ language: "English", stem: true, removeStopWords: true });
    await table.createIndex("text", { config: ftsConfig, replace: true });
    if ((await table.countRows()) < INDEX_FROM) return;
    const vectors = lance.Index.ivfPq({ distanceType: "cosine" });
    await table.createIndex("vector", { config: vectors, replace: true });
  },
  async search(text, vector, count, approximate) {
    if (!table) throw new Error("There are no rows yet.");
    const nearest = table
      .query()
      .fullTextSearch(text, { columns: ["text"] })
      .nearestTo(vector)
      .distanceType("cosine");
    const hits = await (approximate ? nearest : nearest.bypassVectorIndex())
      .rerank(reranker)
      .select(["segmentId", "text"])
      .limit(count)
      .toArray();
    return hits.map(({ segmentId, text, _relevance_score: score }) => {
      return { segmentId, score, text };
    });
  },
};

serveBaseline(baseline);
