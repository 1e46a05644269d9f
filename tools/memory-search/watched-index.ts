import { MODELS } from "../../src/config.ts";
import { trustedId, type WatchId } from "../../src/ids.ts";
import type { Hit } from "../../src/search/hits.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { search } from "../../src/search/search.ts";
import { matchAsset } from "../../src/search/watches/match-asset.ts";
import { insertWatch, type WatchRequest } from "../../src/store/d1/watches.ts";
import { IndexDb } from "../../src/store/index-database/index-database.ts";
import { listMatches, type StoredMatch } from "../../src/store/index-database/matches.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { inChunks, sql } from "../../src/store/sql.ts";
import type { Asset, NamedIndexRef, Segment } from "../../src/types.ts";
import { bindingOf, openMemoryDatabase } from "./memory-database.ts";
import { SqliteD1 } from "./sqlite-d1.ts";
import { type StoredVector, VectorTable } from "./vector-table.ts";

const INDEX = {
  accountId: "acc_1",
  indexId: "ind_00000000000000000000000001",
  name: "name",
  shards: [{ shard: 0, vectorPair: 1 }],
  calibration: null,
} as unknown as NamedIndexRef;
/** The new asset; that of the archive has another id. */
const NEW = {
  ...INDEX,
  assetId: "vid_00000000000000000000000001",
  assetType: "video",
  jobId: "job_00000000000000000000000001",
  shard: 0,
  vectorPair: 1,
  title: "title",
  metadata: {},
  technical: {},
  durationMs: 1,
  createdAt: 10,
} as unknown as Asset;
/** The rows of the new asset and its index. */
const ROWS = `
  INSERT INTO accounts (account_id, name, created_at) VALUES ('${INDEX.accountId}', 'name', 0);
  INSERT INTO vector_pairs (vector_pair) VALUES (1);
  INSERT INTO indices (index_id, account_id, name, created_at, updated_at)
    VALUES ('${INDEX.indexId}', '${INDEX.accountId}', 'name', 0, 0);
  INSERT INTO shards (index_id, shard, vector_pair) VALUES ('${INDEX.indexId}', 0, 1);
  INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state, source,
      sha256, job_id, searchable, facts_revision, created_at, updated_at)
    VALUES ('${NEW.assetId}', '${INDEX.indexId}', 0, '${INDEX.accountId}', 'video', 't', 'ready',
      '{}', 'sha256', '${NEW.jobId}', 1, 1, 0, 0);`;
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
 * An index in memory to which a video is added that is searched for what is watched: by watches and
 * by searches, as in the service. The image model embeds what a picture shows as the text
 * model does.
 */
export class WatchedIndex {
  /** Processor time of the stand-ins of the database's object and of Vectorize. */
  standInMs = 0;
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
    const database = await openMemoryDatabase();
    const run = async (_: string, asked: ModelInput) => {
      if ("text" in asked) return { data: asked.text.map(embed) };
      return { data: asked.input.map(({ text }, index) => ({ index, embedding: embed(text) })) };
    };
    const sqlite = new SqliteD1();
    sqlite.exec(ROWS);
    const env = {
      DB: sqlite,
      AI: { run },
      TEXT_EMBEDDINGS_MODEL: name,
      IMAGE_EMBEDDINGS_URL: "",
      IMAGE_EMBEDDINGS_MODEL: archive.some(({ shows }) => shows) ? `@cf/pictures/${name}` : "",
    } as unknown as Env;
    const index = new WatchedIndex(env, embed);
    Object.assign(env, { INDEX_DATABASE: bindingOf(index.#timed(database)) });
    await index.#insert(ARCHIVE_ID, archive);
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
      createdAt: 0,
      updatedAt: 0,
    });
    return watchId;
  }

  /** Adds a video, which searches find. */
  async addVideo(contents: readonly SegmentContents[]): Promise<void> {
    await this.#insert(NEW.assetId, contents);
    this.#show(await listSegments(this.#db, NEW.assetId));
  }

  /** Searches the video for what is watched. */
  match(): Promise<void> {
    return matchAsset(this.#env, NEW, "", async () => {});
  }

  matchesOf(watchId: WatchId): Promise<StoredMatch[]> {
    return listMatches([this.#db], watchId, "", 10_000);
  }

  async search(query: string, topK: number): Promise<Hit[]> {
    return (await search(this.#env, INDEX, makeSearchRequest({ query, topK }))).hits;
  }

  async #insert(assetId: string, contents: readonly SegmentContents[]) {
    await this.#db.batch([
      sql`INSERT INTO assets (asset_id, asset_type, searchable_at)
        VALUES (${assetId}, 'video', 0)`,
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
      TEXT_VECTORS_1: this.#timed(new VectorTable(text)),
      IMAGE_VECTORS_1: this.#timed(new VectorTable(image)),
    };
    Object.assign(this.#env, tables);
  }

  /** Counts the processor time of the calls of an object, which compute before they wait. */
  #timed<T extends object>(object: T): T {
    return new Proxy(object, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name, target);
        if (typeof method !== "function") return method;
        return (...args: unknown[]): unknown => {
          const start = cpuMs();
          const result: unknown = method.apply(target, args);
          this.standInMs += cpuMs() - start;
          return result;
        };
      },
    });
  }
}

/** Processor time of this thread, which other processes don't lengthen. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Values of a vector of the text model. */
export const TEXT_DIMENSIONS = MODELS.embedText.dimensions;
