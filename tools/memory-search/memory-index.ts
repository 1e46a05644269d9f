import { MODELS } from "../../src/config.ts";
import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { type IndexId, trustedId } from "../../src/ids.ts";
import type { SearchableIndexRef } from "../../src/search/calibration.ts";
import type { Hit } from "../../src/search/hits.ts";
import { parseQuery } from "../../src/search/query.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { search } from "../../src/search/search.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import { providePlatformClasses } from "../platform-classes.ts";
import type { SegmentFields } from "../segment-batch.ts";
import { recordedState } from "../statements/recorded-databases.ts";
import { type StoredVector, VectorTable } from "./vector-table.ts";

const INDEX_ID: IndexId = trustedId("ind_memory");
const INDEX = {
  accountId: trustedId("acc_memory"),
  indexId: INDEX_ID,
  name: "memory",
  shards: [{ shard: 0, vectorPair: 1 }],
  calibration: null,
} as unknown as SearchableIndexRef;
const SUFFIX = `.${INDEX_ID.slice(-16)}`;

/** Vectors by their texts, of any length up to the dimensions of `MODELS.embedText`. */
type TextVectors = ReadonlyMap<string, ArrayLike<number>>;

/**
 * An index of videos in memory that the service's own search runs on: its database on SQLite, exact
 * search of vectors, and a text model whose vectors are known beforehand. There are no images.
 */
export class MemoryIndex {
  readonly #env: Env;
  readonly #vectors: TextVectors;

  private constructor(env: Env, vectors: TextVectors) {
    this.#env = env;
    this.#vectors = vectors;
  }

  /** `name` names the text model: vectors of queries are cached by it. */
  static async open(
    name: string,
    segments: readonly SegmentFields[],
    vectors: TextVectors,
  ): Promise<MemoryIndex> {
    providePlatformClasses();
    const { IndexDatabase } = await import("../../src/durable/index-database.ts");
    const state = recordedState({ add() {} }, "IndexDatabase", INDEX_DATABASE_MIGRATIONS);
    const database = new IndexDatabase(state, {} as Env);
    const INDEX_DATABASE = { getByName: () => database } as unknown as Env["INDEX_DATABASE"];
    await insertSegments(
      new IndexDb({ INDEX_DATABASE }, { indexId: INDEX_ID, shard: 0 }),
      segments,
    );
    const env = {
      INDEX_DATABASE,
      TEXT_VECTORS_1: new VectorTable(listVectors(segments, vectors)),
      IMAGE_VECTORS_1: new VectorTable([]),
      AI: { run: async (_: string, { text }: { text: string[] }) => embedQueries(vectors, text) },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: "",
    };
    return new MemoryIndex(env as unknown as Env, vectors);
  }

  /**
   * Searches for a text. Near-duplicates aren't collapsed. Throws if the text wasn't embedded,
   * which the service would take for an outage.
   */
  async search(request: { query: string; topK: number }): Promise<Hit[]> {
    requireVector(this.#vectors, parseQuery(request.query).plainText);
    const whole = makeSearchRequest({ collapse: false, ...request });
    return (await search(this.#env, INDEX, whole)).hits;
  }
}

async function insertSegments(db: IndexDb, segments: readonly SegmentFields[]): Promise<void> {
  const assets = [...new Set(segments.map(({ assetId }) => assetId))];
  for (const chunk of inChunks(assets.map((assetId) => ({ assetId })))) {
    await db.batch([
      sql`INSERT INTO assets (asset_id, asset_type, searchable_at)
        SELECT value ->> 'assetId', 'video', 0 FROM json_each(${chunk})`,
    ]);
  }
  for (const chunk of inChunks([...segments])) {
    await db.batch([
      sql`INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, described_at, caption,
          transcript, on_screen_text, indexed)
        SELECT value ->> 'segmentId', asset_key, value ->> 'position', 0, 0, value ->> 'caption',
          value ->> 'transcript', value ->> 'onScreenText', 0
        FROM json_each(${chunk}) JOIN assets ON asset_id = value ->> 'assetId'`,
    ]);
  }
}

/** Lists a vector of each text of the segments, as ingest writes them. */
function listVectors(segments: readonly SegmentFields[], vectors: TextVectors): StoredVector[] {
  return segments.flatMap(({ segmentId, assetId, caption, transcript, onScreenText }) => {
    const texts = { caption, speech: transcript, text: onScreenText };
    const told = Object.entries(texts).filter(([, text]) => text !== "");
    return told.map(([kind, text]) => ({
      id: `${segmentId}:${kind}${SUFFIX}`,
      values: requireVector(vectors, text),
      metadata: { asset_id: assetId, asset_type: "video", kind },
    }));
  });
}

/** Answers as `MODELS.embedText` does, with zeros behind shorter vectors. */
function embedQueries(vectors: TextVectors, texts: string[]): { data: number[][] } {
  const data = texts.map((text) => {
    const values = requireVector(vectors, text);
    return Array.from({ length: MODELS.embedText.dimensions }, (_, i) => values[i] ?? 0);
  });
  return { data };
}

function requireVector(vectors: TextVectors, text: string): ArrayLike<number> {
  const values = vectors.get(text);
  if (values) return values;
  throw new Error(`The text "${text}" wasn't embedded.`);
}
