import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LIMITS } from "../src/config.ts";
import {
  type GrownDeployment,
  simulateGrowth,
  simulateMeasured,
} from "../tools/capacity/growth.ts";
import type { GrownShard, MeasuredCapacity } from "../tools/capacity/measured.ts";
import { PROJECT } from "../tools/stack/local-state.ts";

const USAGE = `Usage: npm run simulate -- [options]

Says how many shards and pairs of Vectorize indexes a deployment needs as it grows. The product's own
SQL decides where shards are opened; what an hour of video takes comes from a measurement. First
repeats the measured growth at small limits, and fails if it comes out differently.

  --hours N,…           hours of video (default 1000,10000,100000,1000000)
  --indices N,…         indices that share them by Zipf's law (default 1,1000)
  --shards-per-pair N   the setting SHARDS_PER_PAIR (default ${LIMITS.shardsPerPair})
  --vectors-per-pair N  the setting VECTORS_PER_PAIR (default ${LIMITS.vectorsPerPair})
  --shard-bytes N       the setting SHARD_BYTES (default ${LIMITS.shardBytes})
  --measured FILE       output of npm run bench -- capacity --json
                        (default tools/capacity/measured.json)
  --json                print one line of JSON
  --help                print this help
`;

/** Largest difference of images in a shard, as a share of all: pages of SQLite come in steps. */
const TOLERANCE = 0.1;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      hours: { type: "string", default: "1000,10000,100000,1000000" },
      indices: { type: "string", default: "1,1000" },
      "shards-per-pair": { type: "string", default: String(LIMITS.shardsPerPair) },
      "vectors-per-pair": { type: "string", default: String(LIMITS.vectorsPerPair) },
      "shard-bytes": { type: "string", default: String(LIMITS.shardBytes) },
      measured: { type: "string", default: join(PROJECT, "tools/capacity/measured.json") },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const hours = readNumbers("hours", values.hours);
  const indices = readNumbers("indices", values.indices);
  const limits = {
    shardBytes: readNumber("shard-bytes", values["shard-bytes"]),
    vectorsPerPair: readNumber("vectors-per-pair", values["vectors-per-pair"]),
    shardsPerPair: readNumber("shards-per-pair", values["shards-per-pair"]),
  };
  const measured = JSON.parse(await readFile(values.measured, "utf8")) as MeasuredCapacity;
  const simulated = await simulateMeasured(measured);
  if (!values.json) printShards(measured.shards, simulated);
  if (!isReproduced(measured, simulated)) {
    throw new Error("The simulation doesn't reproduce the measured shards.");
  }
  const grown: GrownDeployment[] = [];
  for (const indexCount of indices) {
    for (const hourCount of hours) {
      grown.push(await simulateGrowth(measured, hourCount, indexCount, limits));
    }
  }
  if (values.json) console.log(JSON.stringify({ measured: measured.shards, simulated, grown }));
  else console.table(grown.map(toRow));
}

/** Whether the same shards were opened in the same pairs, after about as many images. */
function isReproduced({ shards, images }: MeasuredCapacity, simulated: GrownShard[]): boolean {
  return (
    shards.length === simulated.length &&
    shards.every(({ vectorPair, assets }, i) => {
      const { vectorPair: pair, assets: count } = simulated[i]!;
      return pair === vectorPair && Math.abs(count - assets) <= TOLERANCE * images;
    })
  );
}

function printShards(measured: GrownShard[], simulated: GrownShard[]): void {
  console.table(
    simulated.map(({ shard, vectorPair, assets }) => ({
      shard,
      pair: vectorPair,
      "images, simulated": assets,
      "images, measured": measured[shard]?.assets,
    })),
  );
}

function toRow(grown: GrownDeployment) {
  return {
    hours: grown.hours,
    indices: grown.indices,
    pairs: grown.pairs,
    shards: grown.shards,
    "most of an index": grown.mostShards,
    "of a mean hour's": round(grown.meanShards),
    "fullest, M vectors": round(grown.mostVectors / 1e6),
    "pair full after": grown.fullPairAfter ?? "never",
    "database full after": grown.fullDatabaseAfter ?? "never",
    "D1, MB": Math.round(grown.d1Bytes / 1e6),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function readNumbers(name: string, text: string): number[] {
  return text.split(",").map((part) => readNumber(name, part));
}

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} takes positive integers, not "${text}".`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
