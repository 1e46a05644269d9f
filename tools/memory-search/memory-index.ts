import { MODELS } from "../../src/config.ts";
import { type IndexId, trustedId } from "../../src/ids.ts";
import type { SearchableIndexRef } from "../../src/search/calibration.ts";
import type { Hit } from "../../src/search/hits.ts";
import { parseQuery } from "../../src/search/query.ts";
import { makeSearchRequest, type SearchRequest } from "../../src/search/request.ts";
import { search } from "../../src/search/search.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import type { TextKind, VectorKind } from "../../src/types.ts";
import type { SegmentFields } from "../segment-batch.ts";
import { bindingOf, openMemoryDatabase } from "./memory-database.ts";
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

type Vectors = ReadonlyMap<string, ArrayLike<number>>;

/** Vectors that models would compute. */
export interface KnownVectors {
  /** Those of the text model by text, of any length up to the dimensions of `MODELS.embedText`. */
  texts: Vectors;
  /** Those of the image model, by segment and by query; null for an index without image vectors. */
  images: { bySegment: Vectors; byQuery: Vectors } | null;
}

const IMAGE_MODEL = "@cf/known-vectors";

/**
 * An index of videos in memory that the service's own search runs on: its database on SQLite, exact
 * search of vectors, and models whose vectors are known beforehand.
 */
export class MemoryIndex {
  readonly #env: Env;
  readonly #vectors: KnownVectors;

  private constructor(env: Env, vectors: KnownVectors) {
    this.#env = env;
    this.#vectors = vectors;
  }

  /** `name` names the models: vectors of queries are cached by it. */
  static async open(
    name: string,
    segments: readonly SegmentFields[],
    vectors: KnownVectors,
  ): Promise<MemoryIndex> {
    const INDEX_DATABASE = bindingOf(await openMemoryDatabase());
    await insertSegments(
      new IndexDb({ INDEX_DATABASE }, { indexId: INDEX_ID, shard: 0 }),
      segments,
    );
    const { texts, images } = vectors;
    const env = {
      INDEX_DATABASE,
      TEXT_VECTORS_1: new VectorTable(listTextVectors(segments, texts)),
      IMAGE_VECTORS_1: new VectorTable(images ? listImageVectors(segments, images.bySegment) : []),
      AI: { run: async (_: string, input: ModelInput) => embedQueries(vectors, input) },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: images ? `${IMAGE_MODEL}/${name}` : "",
    };
    return new MemoryIndex(env as unknown as Env, vectors);
  }

  /**
   * Searches for a text. Near-duplicates aren't collapsed. Throws if the text wasn't embedded,
   * which the service would take for an outage.
   */
  async search(
    request: Pick<SearchRequest, "query" | "topK"> &
      Partial<Pick<SearchRequest, "moreLike" | "lessLike" | "skipped">>,
  ): Promise<Hit[]> {
    const { texts, images } = this.#vectors;
    const { plainText } = parseQuery(request.query);
    requireVector(texts, plainText);
    if (images) requireVector(images.byQuery, plainText);
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

function toStored(
  { segmentId, assetId }: SegmentFields,
  kind: VectorKind,
  values: ArrayLike<number>,
): StoredVector {
  const metadata = { asset_id: assetId, asset_type: "video", kind };
  return { id: `${segmentId}:${kind}${SUFFIX}`, values, metadata };
}

/** Lists a vector of each text of the segments, as ingest writes them. */
function listTextVectors(segments: readonly SegmentFields[], vectors: Vectors): StoredVector[] {
  return segments.flatMap((segment) => {
    const { caption, transcript: speech, onScreenText: text } = segment;
    const told = Object.entries({ caption, speech, text }).filter(([, words]) => words !== "");
    return told.map(([kind, words]) =>
      toStored(segment, kind as TextKind, requireVector(vectors, words)),
    );
  });
}

function listImageVectors(segments: readonly SegmentFields[], vectors: Vectors): StoredVector[] {
  return segments.flatMap((segment) => {
    const values = vectors.get(segment.segmentId);
    return values ? [toStored(segment, "image", values)] : [];
  });
}

/** Inputs of `MODELS.embedText`, and of an image model. */
type ModelInput = { text: string[] } | { input: { text: string }[] };

/** Answers as the models do; the vectors of texts with zeros behind shorter ones. */
function embedQueries({ texts, images }: KnownVectors, input: ModelInput): { data: number[][] } {
  if ("input" in input) {
    const data = input.input.map(({ text }) => Array.from(requireVector(images!.byQuery, text)));
    return { data };
  }
  const data = input.text.map((text) => {
    const values = requireVector(texts, text);
    return Array.from({ length: MODELS.embedText.dimensions }, (_, i) => values[i] ?? 0);
  });
  return { data };
}

function requireVector(vectors: Vectors, text: string): ArrayLike<number> {
  const values = vectors.get(text);
  if (values) return values;
  throw new Error(`The text "${text}" wasn't embedded.`);
}
