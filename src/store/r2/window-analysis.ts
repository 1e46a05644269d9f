import type { Asset, FrameSummary, Transition } from "../../types.ts";
import { deletePrefix, analysisPrefix, getJson } from "./object-keys.ts";

/** Analysis of a window of a video. Empty if the window can't be decoded. */
export interface WindowAnalysis {
  frames: FrameSummary[];
  transitions: Transition[];
  /** Operations of FRAMES that the analysis took. */
  operations: number;
}

/**
 * What is stored of a window, or of a part of sound, until the ingest ends: `json` is the analysis,
 * `luma` its frames, one after another, and `amplitudes` a byte for each cell.
 */
type AnalysisKind = "json" | "luma" | "amplitudes";

const keyOf = (asset: Asset, part: number, kind: AnalysisKind) =>
  `${analysisPrefix(asset)}${part}.${kind}`;

/** Stores the analysis of a window, and the luma values of its frames. Overwrites earlier ones. */
export async function putWindowAnalysis(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  { lumas, ...analysis }: WindowAnalysis & { lumas: readonly Uint8Array[] },
): Promise<void> {
  await putAnalysisBytes(bucket, asset, part, "luma", Buffer.concat(lumas));
  await bucket.put(keyOf(asset, part, "json"), JSON.stringify(analysis));
}

/** Returns the analysis of a window; null before there is one, and after the ingest. */
export function getWindowAnalysis(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<WindowAnalysis | null> {
  return getJson(bucket, keyOf(asset, part, "json"));
}

export async function putAnalysisBytes(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  kind: Exclude<AnalysisKind, "json">,
  bytes: Uint8Array,
): Promise<void> {
  await bucket.put(keyOf(asset, part, kind), bytes);
}

/** Returns the bytes of a part; null if there are none, and after the ingest. */
export async function getAnalysisBytes(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  kind: Exclude<AnalysisKind, "json">,
): Promise<Uint8Array | null> {
  const object = await bucket.get(keyOf(asset, part, kind));
  return object && object.bytes();
}

export function deleteAnalyses(bucket: R2Bucket, asset: Asset): Promise<void> {
  return deletePrefix(bucket, analysisPrefix(asset));
}
