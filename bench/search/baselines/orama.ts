import { splitRows } from "../../../tools/segment-batch.ts";
import {
  type Baseline,
  requireBaselinePackage,
  serveBaseline,
  segmentText,
} from "../baseline-server.ts";

/**
 * Minimum cosine of a vector hit. The default of 0.8 drops nearly all sentence vectors; 0 returns
 * more than fits in the arguments of one call at 100,000 segments.
 */
const MIN_SIMILARITY = 0.5;
const BATCH_ROWS = 500;

/** The part of the package that is used here. */
interface Orama {
  create: (options: object) => object;
  insertMultiple: (db: object, rows: object[], rowsAtOnce: number, waitMs: number) => Promise<void>;
  search: (
    db: object,
    params: object,
  ) => Promise<{ hits: { id: string; score: number; document: { text: string } }[] }>;
}

const { create, insertMultiple, search }: Orama = requireBaselinePackage("@orama/orama");
const { stopwords }: { stopwords: string[] } = requireBaselinePackage("@orama/stopwords/english");
const db = create({
  schema: { text: "string", vector: "vector[512]" },
  sort: { enabled: false },
  components: { tokenizer: { language: "english", stemming: true, stopWords: stopwords } },
});

const baseline: Baseline = {
  async add({ segments, textVectors }) {
    const vectors = splitRows(textVectors, segments.length);
    const rows = segments.map((segment, at) => {
      const vector = Array.from(vectors[at] ?? []);
      return { id: segment.segmentId, text: segmentText(segment), vector };
    });
    await insertMultiple(db, rows, BATCH_ROWS, 0);
  },
  prepare: async () => {},
  async search(term, vector, limit) {
    const { hits } = await search(db, {
      mode: "hybrid",
      term,
      vector: { value: vector, property: "vector" },
      similarity: MIN_SIMILARITY,
      limit,
    });
    return hits.map(({ id, score, document }) => ({ segmentId: id, score, text: document.text }));
  },
};

serveBaseline(baseline);
