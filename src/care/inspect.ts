import { CARE } from "../config.ts";
import { listSegmentHealth } from "../store/health.ts";
import { assetPrefix, listObjects } from "../store/media.ts";
import type { Asset } from "../types.ts";
import type { Finding } from "./findings.ts";
import { inspectObjects } from "./inspect-objects.ts";
import { inspectRows } from "./inspect-rows.ts";
import { inspectTranscript } from "./inspect-transcript.ts";
import { inspectVectors } from "./inspect-vectors.ts";
import type { PictureSpace } from "./picture-space.ts";

/**
 * Compares an asset's record with what D1, R2 and Vectorize hold of it. Changes nothing. Of one that is
 * still being ingested only whether it gets on.
 */
export async function inspect(
  env: Env,
  asset: Asset,
  space: PictureSpace,
  now: number,
): Promise<Finding[]> {
  if (asset.state !== "ready") return inspectIngest(asset, now);
  const [segments, objects] = await Promise.all([
    listSegmentHealth(env.DB, asset.assetId, now),
    listObjects(env.MEDIA, assetPrefix(asset)),
  ]);
  const [transcript, vectors] = await Promise.all([
    inspectTranscript(env, asset, objects),
    inspectVectors(env, segments, space),
  ]);
  return [
    ...inspectRows(asset, segments),
    ...inspectObjects(asset, segments, objects, now),
    ...transcript,
    ...vectors,
  ];
}

function inspectIngest({ state, error, updatedAt }: Asset, now: number): Finding[] {
  if (state === "failed") {
    const message = error?.message ?? "The ingest failed.";
    return [{ code: "ingest_failed", message, about: [] }];
  }
  if (now - updatedAt < CARE.stuckMs) return [];
  const minutes = Math.floor((now - updatedAt) / 60_000);
  const message = `Nothing was heard of it for ${minutes} minutes.`;
  return [{ code: "ingest_stuck", message, about: [] }];
}
