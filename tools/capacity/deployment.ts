import { type AccountId, type IndexId, trustedId } from "../../src/ids.ts";
import { insertIndex } from "../../src/store/indices.ts";
import { listShards, openShardIfFull } from "../../src/store/shards.ts";
import { countVectors } from "../../src/store/vector-pairs.ts";
import type { Shard } from "../../src/types.ts";
import { SqliteD1 } from "./sqlite-d1.ts";

/** What an asset adds to each store. */
export interface AssetSize {
  /** Bytes in the database of its shard. */
  indexDatabase: number;
  textVectors: number;
  imageVectors: number;
}

/** Limits at which shards are opened: `LIMITS` of `src/config.ts`, or smaller ones. */
export type ShardLimits = Record<"shardBytes" | "vectorsPerPair" | "shardsPerPair", number>;

interface SimulatedShard extends Shard {
  bytes: number;
}

interface SimulatedPair {
  text: number;
  image: number;
}

/**
 * The databases and pairs of Vectorize indexes of a deployment, as numbers. The product's own
 * statements decide on an in-memory D1 which shards are opened and where. Its operator adds a pair
 * as soon as none takes new shards.
 */
export class SimulatedDeployment {
  readonly #pairs: SimulatedPair[] = [];
  readonly #indices: SimulatedShard[][] = [];
  readonly #env: Record<string, unknown>;
  readonly #emptyDatabase: number;

  /** `emptyDatabase`: bytes of a database without assets. */
  constructor(limits: ShardLimits, emptyDatabase: number) {
    this.#emptyDatabase = emptyDatabase;
    const db = new SqliteD1();
    db.exec("INSERT INTO accounts (account_id, name, created_at) VALUES ('acc_1', 'simulated', 0)");
    this.#env = {
      DB: db,
      SHARD_BYTES: limits.shardBytes,
      VECTORS_PER_PAIR: limits.vectorsPerPair,
      SHARDS_PER_PAIR: limits.shardsPerPair,
    };
    this.#addPair();
  }

  get pairCount(): number {
    return this.#pairs.length;
  }

  /** Returns the vectors in the fuller index of a pair, by its number from 1. */
  vectorsOf(vectorPair: number): number {
    const { text, image } = this.#pairs[vectorPair - 1]!;
    return Math.max(text, image);
  }

  shardsOf(index: number): readonly SimulatedShard[] {
    return this.#indices[index] ?? [];
  }

  /**
   * Adds an asset to an index, which is created with its first one, and ends its ingest. Returns
   * the number of its shard.
   */
  async add(index: number, size: AssetSize): Promise<number> {
    const shards = (this.#indices[index] ??= await this.#createIndex(index));
    const newest = shards.at(-1)!;
    newest.bytes += size.indexDatabase;
    const pair = this.#pairs[newest.vectorPair - 1]!;
    pair.text += size.textVectors;
    pair.image += size.imageVectors;
    const ref = { indexId: indexIdOf(index), shard: newest.shard };
    await openShardIfFull(this.#typedEnv(), ref, Math.round(newest.bytes));
    const opened = await this.#readShards(index, shards.length);
    shards.push(...opened);
    return newest.shard;
  }

  /** Counts vectors, as the cron does once a minute. */
  async sweep(): Promise<void> {
    while (!(await countVectors(this.#typedEnv()))) this.#addPair();
  }

  async #createIndex(index: number): Promise<SimulatedShard[]> {
    const [now, indexId] = [0, indexIdOf(index)];
    const account: AccountId = trustedId("acc_1");
    await insertIndex(this.#typedEnv(), {
      indexId,
      accountId: account,
      name: indexId,
      description: "",
      metadata: {},
      settings: {},
      createdAt: now,
      updatedAt: now,
      lastTraversedAt: null,
      revision: 0,
    });
    return this.#readShards(index, 0);
  }

  /** Reads the shards of an index from number `from` on, which are empty. */
  async #readShards(index: number, from: number): Promise<SimulatedShard[]> {
    const shards = await listShards(this.#typedEnv().DB, indexIdOf(index));
    return shards
      .slice(from)
      .map(({ shard, vectorPair }) => ({ shard, vectorPair, bytes: this.#emptyDatabase }));
  }

  #addPair(): void {
    const pair = { text: 0, image: 0 };
    this.#pairs.push(pair);
    const describe = (kind: keyof SimulatedPair) => ({
      describe: async () => ({ vectorCount: Math.round(pair[kind]) }),
    });
    this.#env[`TEXT_VECTORS_${this.#pairs.length}`] = describe("text");
    this.#env[`IMAGE_VECTORS_${this.#pairs.length}`] = describe("image");
  }

  #typedEnv(): Env {
    return this.#env as unknown as Env;
  }
}

function indexIdOf(index: number): IndexId {
  return trustedId(`ind_${index}`);
}
