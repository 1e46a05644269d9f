import { listSegmentHealth, type SegmentHealth } from "../store/health.ts";
import { assetPrefix, listObjects } from "../store/r2/object-keys.ts";
import { vectorPair } from "../store/vectorize/vector-pairs.ts";
import { vectorLagSeconds } from "../store/vectorize/vectors.ts";
import type { Asset } from "../types.ts";
import type { Finding } from "./findings.ts";
import { inspectArchive } from "./health/archive.ts";
import { inspectFailures } from "./health/failures.ts";
import { inspectIngest } from "./health/ingest.ts";
import { inspectObjects } from "./health/objects.ts";
import { inspectFacts, inspectRows } from "./health/rows.ts";
import { inspectTranscript } from "./health/transcript.ts";
import { inspectVectors } from "./health/vectors.ts";
import type { ImageModel } from "./image-model.ts";

/**
 * Compares an asset's record with its content in D1, the index's database, R2 and Vectorize.
 * Read-only. For an asset that isn't ready, checks only its ingest and its facts.
 */
export async function inspectAsset(
  env: Env,
  asset: Asset,
  imageModel: ImageModel,
  now: number,
): Promise<Finding[]> {
  if (asset.state !== "ready") {
    return [...inspectIngest(asset, now), ...(await inspectFacts(env, asset))];
  }
  const [facts, segments, objects] = await Promise.all([
    inspectFacts(env, asset),
    listSegmentHealth(env, asset, now),
    listObjects(env.MEDIA, assetPrefix(asset)),
  ]);
  const settledAt = now - vectorLagSeconds(env) * 1000;
  const isSettled = ({ vectorsAt }: SegmentHealth) => vectorsAt <= settledAt;
  const [failures, transcript, vectors, archive] = await Promise.all([
    inspectFailures(env, asset, segments),
    inspectTranscript(env, asset, objects),
    inspectVectors(vectorPair(env, asset), segments.filter(isSettled), imageModel),
    inspectArchive(env, asset, objects, now),
  ]);
  return [
    ...facts,
    ...inspectRows(asset, segments),
    ...inspectObjects(asset, segments, objects, now),
    ...failures,
    ...transcript,
    ...vectors,
    ...archive,
  ];
}
