import { rowsOf } from "../batch.ts";
import { type Peer, requirePeer, servePeer, textOf } from "../peer-server.ts";

/**
 * From which cosine a vector counts. Its default of 0.8 leaves hardly any of our sentence vectors, and 0
 * leaves more than it can spread into the arguments of one call at 100,000 segments.
 */
const SIMILARITY = 0.5;
const ROWS_AT_ONCE = 500;

/** What we use of the package. */
interface Orama {
  create: (options: object) => object;
  insertMultiple: (db: object, rows: object[], rowsAtOnce: number, waitMs: number) => Promise<void>;
  search: (
    db: object,
    params: object,
  ) => Promise<{ hits: { id: string; score: number; document: { text: string } }[] }>;
}

const { create, insertMultiple, search }: Orama = requirePeer("@orama/orama");
const { stopwords }: { stopwords: string[] } = requirePeer("@orama/stopwords/english");
const db = create({
  schema: { text: "string", vector: "vector[512]" },
  sort: { enabled: false },
  components: { tokenizer: { language: "english", stemming: true, stopWords: stopwords } },
});

const peer: Peer = {
  async add({ passages, texts }) {
    const vectors = rowsOf(texts, passages.length);
    const rows = passages.map((passage, at) => {
      const vector = Array.from(vectors[at] ?? []);
      return { id: passage.segmentId, text: textOf(passage), vector };
    });
    await insertMultiple(db, rows, ROWS_AT_ONCE, 0);
  },
  prepare: async () => {},
  async search(term, vector, limit) {
    const { hits } = await search(db, {
      mode: "hybrid",
      term,
      vector: { value: vector, property: "vector" },
      similarity: SIMILARITY,
      limit,
    });
    return hits.map(({ id, score, document }) => ({ segmentId: id, score, text: document.text }));
  },
};

servePeer(peer);
