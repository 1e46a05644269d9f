import { rowsOf } from "../batch.ts";
import { dataFolder, type Peer, requirePeer, servePeer, textOf } from "../peer-server.ts";

/** From so many rows on the vectors get its index; below, its documentation advises against one. */
const INDEX_FROM = 50_000;

interface Row extends Record<string, unknown> {
  segmentId: string;
  text: string;
}

/** What we use of the package. */
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

const lance: Lance = requirePeer("@lancedb/lancedb");
const database = await lance.connect(dataFolder());
const reranker = await lance.rerankers.RRFReranker.create();
let table: Table | null = null;

const peer: Peer = {
  async add({ passages, texts }) {
    const vectors = rowsOf(texts, passages.length);
    const rows = passages.map((passage, at) => {
      const vector = Array.from(vectors[at] ?? []);
      return { segmentId: passage.segmentId, text: textOf(passage), vector };
    });
    if (table) await table.add(rows);
    else table = await database.createTable("segments", rows);
  },
  async prepare() {
    if (!table) throw new Error("There are no rows yet.");
    await table.optimize();
    const words = lance.Index.fts({ language: "English", stem: true, removeStopWords: true });
    await table.createIndex("text", { config: words, replace: true });
    if ((await table.countRows()) < INDEX_FROM) return;
    const vectors = lance.Index.ivfPq({ distanceType: "cosine" });
    await table.createIndex("vector", { config: vectors, replace: true });
  },
  async search(text, vector, count, approximate) {
    if (!table) throw new Error("There are no rows yet.");
    const near = table
      .query()
      .fullTextSearch(text, { columns: ["text"] })
      .nearestTo(vector)
      .distanceType("cosine");
    const hits = await (approximate ? near : near.bypassVectorIndex())
      .rerank(reranker)
      .select(["segmentId", "text"])
      .limit(count)
      .toArray();
    return hits.map(({ segmentId, text: words, _relevance_score: score }) => {
      return { segmentId, score, text: words };
    });
  },
};

servePeer(peer);
