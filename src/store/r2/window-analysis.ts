import type { Asset, FrameSummary, Transition } from "../../types.ts";
import { deletePrefix, analysisPrefix } from "./object-keys.ts";

/** Analysis of a window of a video. Empty if the window can't be decoded. */
export interface WindowAnalysis {
  frames: FrameSummary[];
  transitions: Transition[];
  /** Operations of FRAMES that the analysis took. */
  operations: number;
}

/** Stores the analysis of a window, and the luma values of its frames. Overwrites earlier ones. */
export async function putWindowAnalysis(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  { lumas, ...analysis }: WindowAnalysis & { lumas: readonly Uint8Array[] },
): Promise<void> {
  await bucket.put(lumaKey(asset, part), Buffer.concat(lumas));
  await bucket.put(analysisKey(asset, part), JSON.stringify(analysis));
}

/** Returns the analysis of a window; null before there is one, and after the ingest. */
export async function getWindowAnalysis(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<WindowAnalysis | null> {
  const object = await bucket.get(analysisKey(asset, part));
  return object && object.json<WindowAnalysis>();
}

/** Returns the luma values of a window's frames, one frame after another, or null. */
export function getWindowLuma(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<Uint8Array | null> {
  return getBytes(bucket, lumaKey(asset, part));
}

/** Stores the pixels of the tiles of a storyboard that a window has, one tile after another. */
export async function putWindowTiles(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  pixels: Uint8ClampedArray,
): Promise<void> {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.length);
  await bucket.put(tilesKey(asset, part), bytes);
}

/** Returns the pixels of a window's tiles; null if none could be decoded, and after the ingest. */
export function getWindowTiles(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<Uint8Array | null> {
  return getBytes(bucket, tilesKey(asset, part));
}

/** Stores the amplitudes of one part of sound, a byte for each cell. Overwrites earlier ones. */
export async function putAmplitudes(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
  amplitudes: Uint8Array,
): Promise<void> {
  await bucket.put(amplitudesKey(asset, part), amplitudes);
}

/** Returns the amplitudes of a part; null if they couldn't be measured, and after the ingest. */
export function getAmplitudes(
  bucket: R2Bucket,
  asset: Asset,
  part: number,
): Promise<Uint8Array | null> {
  return getBytes(bucket, amplitudesKey(asset, part));
}

/** Deletes the analyses of an asset. */
export function deleteAnalyses(bucket: R2Bucket, asset: Asset): Promise<void> {
  return deletePrefix(bucket, analysisPrefix(asset));
}

async function getBytes(bucket: R2Bucket, key: string): Promise<Uint8Array | null> {
  const object = await bucket.get(key);
  return object && object.bytes();
}

function analysisKey(asset: Asset, part: number): string {
  return `${analysisPrefix(asset)}${part}.json`;
}

function amplitudesKey(asset: Asset, part: number): string {
  return `${analysisPrefix(asset)}${part}.amplitudes`;
}

function tilesKey(asset: Asset, part: number): string {
  return `${analysisPrefix(asset)}${part}.tiles`;
}

function lumaKey(asset: Asset, part: number): string {
  return `${analysisPrefix(asset)}${part}.luma`;
}
