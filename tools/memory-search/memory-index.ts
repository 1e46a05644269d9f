import { MODELS } from "../../src/config.ts";
import { type IndexId, trustedId } from "../../src/ids.ts";
import type { Hit } from "../../src/search/hits.ts";
import { IndexGroup, type SearchTarget } from "../../src/search/index-group.ts";
import { parseQuery } from "../../src/search/query.ts";
import { makeSearchRequest, type SearchRequest } from "../../src/search/request.ts";
import type { SearchResults } from "../../src/search/results.ts";
import { search } from "../../src/search/search.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import { type NamedIndexRef, TEMPLATE, type TextKind, type VectorKind } from "../../src/types.ts";
import type { SegmentFields } from "../segment-batch.ts";
import { bindingOf, openMemoryDatabase } from "./memory-database.ts";
import { type StoredVector, VectorTable } from "./vector-table.ts";

type Vectors = ReadonlyMap<string, ArrayLike<number>>;

/** Vectors that models would compute. */
export interface KnownVectors {
  /** Those of the text model by text, of any length up to the dimensions of `MODELS.embedText`. */
  texts: Vectors;
  /** Those of the image model, by segment and by query; null for an index without image vectors. */
  images: { bySegment: Vectors; byQuery: Vectors } | null;
}

const IMAGE_MODEL = "@cf/known-vectors";

/** A part of an archive: an index with its database and vectors. */
interface Part {
  index: NamedIndexRef;
  database: Awaited<ReturnType<typeof openMemoryDatabase>>;
  texts: VectorTable;
  images: VectorTable;
}

/** Time that an index of a split archive has for a call. */
const TIMEOUT_MS = 60_000;

/**
 * An index of videos in memory that the service's own search runs on: its database on SQLite, exact
 * search of vectors, and models whose vectors are known beforehand. May be split into several.
 */
export class MemoryIndex {
  readonly #env: Env;
  readonly #vectors: KnownVectors;
  /** The indices. */
  readonly indices: readonly NamedIndexRef[];

  private constructor(env: Env, indices: NamedIndexRef[], vectors: KnownVectors) {
    this.#env = env;
    this.indices = indices;
    this.#vectors = vectors;
  }

  /** `name` names the models: vectors of queries are cached by it. */
  static async open(
    name: string,
    segments: readonly SegmentFields[],
    vectors: KnownVectors,
  ): Promise<MemoryIndex> {
    return MemoryIndex.openSplit(name, [segments], vectors);
  }

  /** Opens an index for each list of segments. Those whose place is in `silent` never answer. */
  static async openSplit(
    name: string,
    lists: readonly (readonly SegmentFields[])[],
    vectors: KnownVectors,
    silent: readonly number[] = [],
  ): Promise<MemoryIndex> {
    const parts: Part[] = [];
    for (const [at, segments] of lists.entries()) {
      parts.push(await openPart(at, segments, vectors, silent.includes(at)));
    }
    const byId = new Map(parts.map((part) => [part.index.indexId as string, part]));
    const query = (space: "texts" | "images") => ({
      query: (values: number[], options: VectorizeQueryOptions) =>
        byId.get(options.namespace!)![space].query(values, options),
    });
    const { images } = vectors;
    const env = {
      INDEX_DATABASE: { getByName: (id: string) => byId.get(id)!.database },
      TEXT_VECTORS_1: query("texts"),
      IMAGE_VECTORS_1: query("images"),
      AI: { run: async (_: string, input: ModelInput) => embedQueries(vectors, input) },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: images ? `${IMAGE_MODEL}/${name}` : "",
    };
    const indices = parts.map(({ index }) => index);
    return new MemoryIndex(env as unknown as Env, indices, vectors);
  }

  /**
   * Searches for a text. Near-duplicates aren't collapsed. Throws if the text wasn't embedded,
   * which the service would take for an outage.
   */
  async search(
    request: Pick<SearchRequest, "query" | "topK"> &
      Partial<Pick<SearchRequest, "moreLike" | "lessLike" | "skipped">>,
  ): Promise<Hit[]> {
    const [first, ...others] = this.indices;
    const target = others.length > 0 ? new IndexGroup(this.indices, TIMEOUT_MS) : first!;
    return (await this.searchIn(target, request)).hits;
  }

  /** Searches some of the indices, as `search` does all of them. */
  async searchIn(
    target: SearchTarget,
    request: Parameters<typeof makeSearchRequest>[0] & { query: string },
  ): Promise<SearchResults> {
    const { texts, images } = this.#vectors;
    const { plainText } = parseQuery(request.query);
    requireVector(texts, plainText);
    if (images) requireVector(images.byQuery, plainText);
    return search(this.#env, target, makeSearchRequest({ collapse: false, ...request }));
  }

  /** Calls a function of the service with the first index. */
  use<T>(call: (env: Env, index: NamedIndexRef) => Promise<T>): Promise<T> {
    return call(this.#env, this.indices[0]!);
  }
}

async function openPart(
  at: number,
  segments: readonly SegmentFields[],
  { texts, images }: KnownVectors,
  isSilent: boolean,
): Promise<Part> {
  const indexId: IndexId = trustedId(`ind_memory-${at}`);
  const index = {
    accountId: trustedId("acc_memory"),
    indexId,
    name: `memory-${at}`,
    shards: [{ shard: 0, vectorPair: 1 }],
    calibration: null,
  } as unknown as NamedIndexRef;
  const database = await openMemoryDatabase();
  const INDEX_DATABASE = bindingOf(database);
  await insertSegments(new IndexDb({ INDEX_DATABASE }, { indexId, shard: 0 }), segments);
  const suffix = `.${indexId.slice(-16)}`;
  return {
    index,
    database: isSilent ? silentDatabase() : database,
    texts: new VectorTable(listTextVectors(segments, texts, suffix)),
    images: new VectorTable(images ? listImageVectors(segments, images.bySegment, suffix) : []),
  };
}

/** A database that is called and never answers. */
function silentDatabase(): Part["database"] {
  const never = () => new Promise<never>(() => {});
  return { batch: never, countTerms: never, querySegments: never } as unknown as Part["database"];
}

async function insertSegments(db: IndexDb, segments: readonly SegmentFields[]): Promise<void> {
  const assets = [...new Set(segments.map(({ assetId }) => assetId))];
  for (const chunk of inChunks(assets.map((assetId) => ({ assetId })))) {
    await db.batch([
      sql`INSERT INTO assets (asset_id, asset_type, searchable_at)
        SELECT value ->> 'assetId', 'video', 0 FROM json_each(${chunk})`,
    ]);
  }
  const rows = segments.map((segment) => {
    const { labels = [] } = segment;
    const captionModel = labels.length > 0 ? TEMPLATE : null;
    const boxes = labels.map((label) => ({ label, score: 1, x: 0, y: 0, width: 1, height: 1 }));
    return { ...segment, captionModel, labels, boxes };
  });
  for (const chunk of inChunks(rows)) {
    await db.batch([
      sql`INSERT INTO segments (segment_id, asset_key, position, keyframe_ms, described_at, caption,
          caption_model, transcript, on_screen_text, labels, boxes, indexed)
        SELECT value ->> 'segmentId', asset_key, value ->> 'position', 0, 0, value ->> 'caption',
          value ->> 'captionModel', value ->> 'transcript', value ->> 'onScreenText',
          value ->> 'labels', value ->> 'boxes', 0
        FROM json_each(${chunk}) JOIN assets ON asset_id = value ->> 'assetId'`,
    ]);
  }
}

function toStored(
  { segmentId, assetId }: SegmentFields,
  kind: VectorKind,
  values: ArrayLike<number>,
  suffix: string,
): StoredVector {
  const metadata = { asset_id: assetId, asset_type: "video", kind };
  return { id: `${segmentId}:${kind}${suffix}`, values, metadata };
}

/** Lists a vector of each text of the segments, as ingest writes them. */
function listTextVectors(
  segments: readonly SegmentFields[],
  vectors: Vectors,
  suffix: string,
): StoredVector[] {
  return segments.flatMap((segment) => {
    const { caption, transcript: speech, onScreenText: text } = segment;
    const told = Object.entries({ caption, speech, text }).filter(([, words]) => words !== "");
    return told.map(([kind, words]) =>
      toStored(segment, kind as TextKind, requireVector(vectors, words), suffix),
    );
  });
}

function listImageVectors(
  segments: readonly SegmentFields[],
  vectors: Vectors,
  suffix: string,
): StoredVector[] {
  return segments.flatMap((segment) => {
    const values = vectors.get(segment.segmentId);
    return values ? [toStored(segment, "image", values, suffix)] : [];
  });
}

/** Inputs of `MODELS.embedText`, and of an image model. */
type ModelInput = { text: string[] } | { input: { text: string }[] };

/** Answers as the models do; the vectors of texts with zeros behind shorter ones. */
function embedQueries({ texts, images }: KnownVectors, input: ModelInput): { data: object[] } {
  if ("input" in input) {
    const data = input.input.map(({ text }, index) => {
      return { index, embedding: Array.from(requireVector(images!.byQuery, text)) };
    });
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
