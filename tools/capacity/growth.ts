import { LIMITS } from "../../src/config.ts";
import { createRandom } from "../training/random.ts";
import { type AssetSize, type ShardLimits, SimulatedDeployment } from "./deployment.ts";
import type { GrownShard, MeasuredCapacity } from "./measured.ts";

/** Simulates the measured growth of one index to small limits. */
export async function simulateMeasured(measured: MeasuredCapacity): Promise<GrownShard[]> {
  const { emptyDatabase, images, limits } = measured;
  const { shardsPerPair } = LIMITS;
  const deployment = new SimulatedDeployment({ ...limits, shardsPerPair }, emptyDatabase);
  const assets: number[] = [];
  for (let i = 0; i < images; i++) {
    if (i % limits.batchSize === 0) await deployment.sweep();
    const shard = await deployment.add(0, toAssetSize(measured.image, 1));
    assets[shard] = (assets[shard] ?? 0) + 1;
  }
  return deployment.shardsOf(0).map(({ shard, vectorPair }) => {
    return { shard, vectorPair, assets: assets[shard] ?? 0 };
  });
}

/** A deployment that has grown. */
export interface GrownDeployment {
  hours: number;
  indices: number;
  shards: number;
  pairs: number;
  /** Shards of the index with the most of them. */
  mostShards: number;
  /** Shards of the index that an average hour is in. */
  meanShards: number;
  /** Vectors of the fullest Vectorize index. */
  mostVectors: number;
  /** Hours after which a pair was full for the first time, and a database; null if none was. */
  fullPairAfter: number | null;
  fullDatabaseAfter: number | null;
  d1Bytes: number;
}

/** Assets of a simulation: each stands for several hours if there are more. */
const MAX_ASSETS = 100_000;
/** Hours between two counts of the vectors. The cron counts every minute. */
const HOURS_PER_SWEEP = 50;
const SEED = 1;

/**
 * Simulates videos of an hour that are ingested into indices growing at the same time. The size of
 * an index is proportional to 1 / rank (Zipf's law).
 */
export async function simulateGrowth(
  measured: MeasuredCapacity,
  hours: number,
  indices: number,
  limits: ShardLimits,
): Promise<GrownDeployment> {
  const deployment = new SimulatedDeployment(limits, measured.emptyDatabase);
  const hoursPerAsset = Math.max(1, hours / MAX_ASSETS);
  const size = toAssetSize(measured.hour, hoursPerAsset);
  const drawIndex = zipf(indices);
  const hoursOf: number[] = Array.from({ length: indices }, () => 0);
  let fullPairAfter: number | null = null;
  let fullDatabaseAfter: number | null = null;
  for (let at = 0, swept = 0; at < hours; at += hoursPerAsset) {
    if (at - swept >= HOURS_PER_SWEEP) {
      await deployment.sweep();
      swept = at;
    }
    const index = drawIndex();
    const shard = await deployment.add(index, size);
    hoursOf[index]! += hoursPerAsset;
    const { bytes, vectorPair } = deployment.shardsOf(index)[shard]!;
    if (bytes >= limits.shardBytes) fullDatabaseAfter ??= at;
    if (deployment.vectorsOf(vectorPair) >= limits.vectorsPerPair) fullPairAfter ??= at;
  }
  const counts = hoursOf.map((_, index) => deployment.shardsOf(index).length);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const vectors = Array.from({ length: deployment.pairCount }, (_, i) =>
    deployment.vectorsOf(i + 1),
  );
  return {
    hours,
    indices: counts.filter((count) => count > 0).length,
    shards: sum(counts),
    pairs: deployment.pairCount,
    mostShards: Math.max(...counts),
    meanShards: sum(counts.map((count, index) => count * hoursOf[index]!)) / sum(hoursOf),
    mostVectors: Math.max(...vectors),
    fullPairAfter,
    fullDatabaseAfter,
    d1Bytes: hours * measured.image.d1,
  };
}

function toAssetSize(
  { indexDatabases, textVectors, imageVectors }: MeasuredCapacity["hour"],
  count: number,
): AssetSize {
  return {
    indexDatabase: indexDatabases * count,
    textVectors: textVectors * count,
    imageVectors: imageVectors * count,
  };
}

/** Draws ranks from 0 up to `count` with probabilities proportional to 1 / (rank + 1). */
function zipf(count: number): () => number {
  const random = createRandom(SEED);
  let total = 0;
  const upTo = Array.from({ length: count }, (_, rank) => (total += 1 / (rank + 1)));
  return () => {
    const drawn = random() * total;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (upTo[middle]! > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
