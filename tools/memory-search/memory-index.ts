import { MODELS } from "../../src/config.ts";
import { INDEX_DATABASE_MIGRATIONS } from "../../src/durable/index-database-schema.ts";
import { type IndexId, trustedId } from "../../src/ids.ts";
import type { Hit } from "../../src/search/hits.ts";
import type { ExampleQuery } from "../../src/search/query.ts";
import { makeSearchRequest, type SearchRequest } from "../../src/search/request.ts";
import { search } from "../../src/search/search.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import type { NamedIndexRef } from "../../src/types.ts";
import { providePlatformClasses } from "../platform-classes.ts";
import type { SegmentFields } from "../segment-batch.ts";
import { recordedState } from "../statements/recorded-databases.ts";
import { type StoredVector, VectorTable } from "./vector-table.ts";

/** Vectors of texts and, by the name of their segment, of images; both are of any length. */
export interface MemoryVectors {
  texts: ReadonlyMap<string, ArrayLike<number>>;
  /** Texts in the space of the images; null without image embeddings. */
  textsForImages: ReadonlyMap<string, ArrayLike<number>> | null;
  images: ReadonlyMap<string, ArrayLike<number>>;
}

const INDEX_ID: IndexId = trustedId("ind_memory");
const INDEX = {
  accountId: trustedId("acc_memory"),
  indexId: INDEX_ID,
  name: "memory",
  shards: [{ shard: 0, vectorPair: 1 }],
} as unknown as NamedIndexRef;
/** Any model of Workers AI, so that a search asks for image embeddings. */
const IMAGE_MODEL = "@cf/memory";
const SUFFIX = `.${INDEX_ID.slice(-16)}`;

/**
 * An index in memory that the service's own search runs on: its database on SQLite, exact search of
 * vectors, and models whose vectors are known beforehand.
 */
export class MemoryIndex {
  readonly #env: Env;

  private constructor(env: Env) {
    this.#env = env;
  }

  /** `name` names the models: vectors of queries are cached by it. */
  static async open(
    name: string,
    segments: readonly SegmentFields[],
    vectors: MemoryVectors,
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
    const { textsForImages } = vectors;
    return new MemoryIndex({
      INDEX_DATABASE,
      TEXT_VECTORS_1: new VectorTable(textVectorsOf(segments, vectors)),
      IMAGE_VECTORS_1: new VectorTable(imageVectorsOf(segments, vectors)),
      AI: { run: async (model: string, input: object) => embedQuery(vectors, model, input) },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: textsForImages ? `${IMAGE_MODEL}/${name}` : "",
    } as unknown as Env);
  }

  /** Searches for a text, or for an image by its vector. Near-duplicates aren't collapsed. */
  async search(
    request: Partial<SearchRequest> & { topK: number },
    imageVector: number[] | null = null,
  ): Promise<Hit[]> {
    const example: ExampleQuery | null = imageVector && {
      imageVector,
      textVector: null,
      copies: [],
      outage: null,
      exclude: { segmentId: null, assetId: null },
    };
    const found = await search(
      this.#env,
      INDEX,
      makeSearchRequest({ collapse: false, ...request }),
      example,
    );
    return found.hits;
  }
}

async function insertSegments(db: IndexDb, segments: readonly SegmentFields[]): Promise<void> {
  const kinds = new Map(segments.map((segment) => [segment.assetId, assetTypeOf(segment)]));
  const assets = [...kinds].map(([assetId, assetType]) => ({ assetId, assetType }));
  for (const chunk of inChunks(assets)) {
    await db.batch([
      sql`INSERT INTO assets (asset_id, asset_type, title, searchable_at)
        SELECT value ->> 'assetId', value ->> 'assetType', value ->> 'assetId', 0
        FROM json_each(${chunk})`,
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

function assetTypeOf({ assetId }: SegmentFields): "image" | "video" {
  return assetId.startsWith("img_") ? "image" : "video";
}

function textVectorsOf(segments: readonly SegmentFields[], { texts }: MemoryVectors) {
  return segments.flatMap((segment) => {
    const { caption, transcript: speech, onScreenText: text } = segment;
    return Object.entries({ caption, speech, text }).flatMap(([kind, content]) => {
      return content === "" ? [] : [toVector(segment, kind, requireVector(texts, content))];
    });
  });
}

function imageVectorsOf(segments: readonly SegmentFields[], { images }: MemoryVectors) {
  return segments.flatMap((segment) => {
    const values = images.get(segment.segmentId);
    return values ? [toVector(segment, "image", values)] : [];
  });
}

function toVector(segment: SegmentFields, kind: string, values: ArrayLike<number>): StoredVector {
  const { assetId: asset_id, segmentId } = segment;
  const metadata = { asset_id, asset_type: assetTypeOf(segment), kind };
  return { id: `${segmentId}:${kind}${SUFFIX}`, values, metadata };
}

/** Answers as Workers AI does for the text model, and for an image model in its first form. */
function embedQuery(vectors: MemoryVectors, model: string, input: object) {
  if (model === MODELS.embedText.id) {
    const { text } = input as { text: string[] };
    const rows = text.map((one) => Array.from(requireVector(vectors.texts, one)));
    const { dimensions } = MODELS.embedText;
    const pad = (row: number[]) => Array.from({ length: dimensions }, (_, i) => row[i] ?? 0);
    return { data: rows.map(pad) };
  }
  const { input: items } = input as { input: { text: string }[] };
  const space = vectors.textsForImages ?? new Map();
  return { data: items.map(({ text }) => Array.from(requireVector(space, text))) };
}

function requireVector(vectors: ReadonlyMap<string, ArrayLike<number>>, text: string) {
  const values = vectors.get(text);
  if (values) return values;
  throw new Error(`The text "${text}" wasn't embedded.`);
}
