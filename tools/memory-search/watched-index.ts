import { MODELS } from "../../src/config.ts";
import { trustedId, type WatchId } from "../../src/ids.ts";
import type { SearchableIndexRef } from "../../src/search/calibration.ts";
import type { Hit } from "../../src/search/hits.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { search } from "../../src/search/search.ts";
import { matchAsset } from "../../src/search/watches/match-asset.ts";
import { embedWatch } from "../../src/search/watches/watch-vectors.ts";
import { insertWatch, type WatchRequest } from "../../src/store/d1/watches.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { listMatches, type StoredMatch } from "../../src/store/index-database/matches.ts";
import { putNewVectors } from "../../src/store/index-database/new-vectors.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import { type Asset, type Segment, TEXT_KINDS } from "../../src/types.ts";
import { recordedD1 } from "../statements/recorded-databases.ts";
import { D1_ROWS } from "../statements/sample-rows.ts";
import { FIELDS } from "../statements/samples.ts";
import { bindingOf, openMemoryDatabase } from "./memory-database.ts";
import { type StoredVector, VectorTable } from "./vector-table.ts";

const INDEX = {
  accountId: FIELDS["accountId"],
  indexId: FIELDS["indexId"],
  name: "name",
  shards: [{ shard: 0, vectorPair: 1 }],
  calibration: null,
} as unknown as SearchableIndexRef;
/** The new asset; that of the archive has another id. */
const NEW = { ...FIELDS, metadata: {}, technical: {}, createdAt: 10 } as unknown as Asset;
const ARCHIVE_ID = `${NEW.assetId.slice(0, -1)}0`;
const SUFFIX = `.${INDEX.indexId.slice(-16)}`;

/** A segment: its texts, and the words that tell what it shows; empty for what it hasn't. */
export interface SegmentContents {
  caption: string;
  transcript: string;
  shows: string;
}

/** What a text model and an image model are asked. */
type ModelInput = { text: string[] } | { input: { text: string }[] };

type Embed = (text: string) => number[];

/**
 * An index in memory to which a video is added that watches are compared with, and then searches:
 * both run as in the service. The image model embeds what a picture shows as the text model does.
 */
export class WatchedIndex {
  readonly #env: Env;
  readonly #embed: Embed;
  readonly #db: IndexDb;
  readonly #vectors: Record<"text" | "image", StoredVector[]> = { text: [], image: [] };
  /** What the segments show, by their ids. */
  readonly #shown = new Map<string, string>();

  private constructor(env: Env, embed: Embed) {
    this.#env = env;
    this.#embed = embed;
    this.#db = new IndexDb(env, { indexId: INDEX.indexId, shard: 0 });
  }

  /** `name` names the models. */
  static async open(name: string, embed: Embed, archive: readonly SegmentContents[]) {
    const INDEX_DATABASE = bindingOf(await openMemoryDatabase());
    const run = async (_: string, asked: ModelInput) => {
      const texts = "input" in asked ? asked.input.map(({ text }) => text) : asked.text;
      return { data: texts.map(embed) };
    };
    const env = {
      DB: recordedD1({ add() {} }, `${D1_ROWS} DELETE FROM watches;`),
      INDEX_DATABASE,
      AI: { run },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: archive.some(({ shows }) => shows) ? `@cf/pictures/${name}` : "",
    } as unknown as Env;
    const index = new WatchedIndex(env, embed);
    await index.#insert(ARCHIVE_ID, archive, 0);
    index.#show(await listSegments(index.#db, trustedId(ARCHIVE_ID)));
    return index;
  }

  async addWatch(query: string, minProbability: number): Promise<WatchId> {
    const request: WatchRequest = {
      query,
      similarTo: null,
      hasImage: false,
      filter: {},
      conditions: [],
      modes: [],
      assetTypes: [],
    };
    const watchId: WatchId = trustedId(`wat_${query.replaceAll(" ", "_")}`);
    await insertWatch(this.#env.DB, {
      watchId,
      accountId: INDEX.accountId,
      indexId: INDEX.indexId,
      name: query,
      request,
      minProbability,
      webhookUrl: null,
      paused: 0,
      image: null,
      vectors: await embedWatch(this.#env, INDEX, request, null),
      nearest: null,
      createdAt: 0,
      updatedAt: 0,
    });
    return watchId;
  }

  /** Adds a video as an ingest does: it is matched, then searchable, then in Vectorize. */
  async addVideo(contents: readonly SegmentContents[]): Promise<void> {
    await this.#insert(NEW.assetId, contents, null);
    const segments = await listSegments(this.#db, NEW.assetId);
    const vectors = segments.flatMap((segment) =>
      this.#vectorsOf(segment).map(({ kind, values }) => ({ segment, kind, values, model: "" })),
    );
    await putNewVectors(this.#db, segments, vectors, [...TEXT_KINDS, "image"]);
    await matchAsset(this.#env, NEW);
    await this.#db.batch([
      sql`UPDATE assets SET searchable_at = 20 WHERE asset_id = ${NEW.assetId}`,
    ]);
    this.#show(segments);
  }

  matchesOf(watchId: WatchId): Promise<StoredMatch[]> {
    return listMatches([this.#db], watchId, "", 10_000);
  }

  async search(query: string, topK: number): Promise<Hit[]> {
    return (await search(this.#env, INDEX, makeSearchRequest({ query, topK }))).hits;
  }

  async #insert(
    assetId: string,
    contents: readonly SegmentContents[],
    searchableAt: number | null,
  ) {
    await this.#db.batch([
      sql`INSERT INTO assets (asset_id, asset_type, searchable_at)
        VALUES (${assetId}, 'video', ${searchableAt})`,
    ]);
    const rows = contents.map(({ caption, transcript, shows }, position) => {
      const number = `${assetId.slice(-1)}${String(position).padStart(5, "0")}`;
      const id = `seg_${number.padStart(26, "0")}`;
      this.#shown.set(id, shows);
      return { id, position, caption, transcript };
    });
    for (const chunk of inChunks(rows)) {
      await this.#db.batch([
        sql`INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms,
            described_at, caption, transcript, indexed)
          SELECT value ->> 'id', asset_key, value ->> 'position', value ->> 'position' * 1000,
            value ->> 'position' * 1000 + 1000, 0, 0, value ->> 'caption', value ->> 'transcript', 0
          FROM json_each(${chunk}) JOIN assets ON asset_id = ${assetId}`,
      ]);
    }
  }

  #vectorsOf({ segmentId, caption, transcript: speech }: Segment) {
    const told = { caption, speech, image: this.#shown.get(segmentId) ?? "" };
    return (["caption", "speech", "image"] as const)
      .filter((kind) => told[kind] !== "")
      .map((kind) => ({ kind, values: this.#embed(told[kind]) }));
  }

  /** Shows vectors to searches. */
  #show(segments: readonly Segment[]): void {
    for (const segment of segments) {
      for (const { kind, values } of this.#vectorsOf(segment)) {
        const metadata = { asset_id: segment.assetId, asset_type: "video", kind };
        const id = `${segment.segmentId}:${kind}${SUFFIX}`;
        this.#vectors[kind === "image" ? "image" : "text"].push({ id, values, metadata });
      }
    }
    const { text, image } = this.#vectors;
    const tables = {
      TEXT_VECTORS_1: new VectorTable(text),
      IMAGE_VECTORS_1: new VectorTable(image),
    };
    Object.assign(this.#env, tables);
  }
}

/** Values of a vector of the text model. */
export const TEXT_DIMENSIONS = MODELS.embedText.dimensions;
