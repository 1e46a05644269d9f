import { traceOf, failureOf, isRetryable } from "../../errors.ts";
import { log } from "../../log.ts";
import { openContainer, requireVideoTrack } from "../../media/container/open-container.ts";
import { computeSignature } from "../../media/pixels/image-signature.ts";
import { measureSharpness } from "../../media/pixels/luma.ts";
import { dot, sampleArea, WHOLE } from "../../media/pixels/registration.ts";
import { toThumbnails } from "../../media/shots/contact-sheet.ts";
import { detectShots, type ShotAnalysis } from "../../media/shots/detect-shots.ts";
import { COPY_DETECTION, SIGNATURE } from "../../parameters.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegmentsWithin } from "../../store/index-database/segments.ts";
import { putFrameSignatures, type FrameSignature } from "../../store/index-database/signatures.ts";
import { putArchivedSignatures } from "../../store/r2/frame-signatures.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { putReferenceFrames } from "../../store/r2/reference-frames.ts";
import {
  putWindowAnalysis,
  getAnalysisBytes,
  getWindowAnalysis,
} from "../../store/r2/window-analysis.ts";
import type { Asset, Segment } from "../../types.ts";
import { windowRange, decodeThumbnail, toPresentationMs } from "../windows.ts";

/**
 * Analyses one window of a video and stores its sampled frames and shot transitions for the steps
 * that follow. A window that can't be decoded has none.
 */
export async function detectAssetShots(env: Env, asset: Asset, part: number, attempt: number) {
  const analysis = analyzeWindow(env, asset, part).catch((error: unknown) => {
    if (isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.frames_unavailable", { ...fields, cause: traceOf(error) });
    return { frames: [], transitions: [], operations: 0 };
  });
  const { frames, transitions, operations } = await analysis;
  const summaries = toThumbnails(frames).map(({ seconds, lumaThumbnail }, i) => {
    const sharpness = Math.round(measureSharpness(frames[i]!.luma));
    return { seconds, sharpness, lumaThumbnail: btoa(String.fromCharCode(...lumaThumbnail)) };
  });
  await putWindowAnalysis(env.MEDIA, asset, part, {
    frames: summaries,
    transitions,
    operations,
    lumas: frames.map(({ luma }) => luma),
  });
}

async function analyzeWindow(env: Env, asset: Asset, part: number): Promise<ShotAnalysis> {
  const { startMs, endMs } = windowRange(asset, part);
  const range = { start: startMs / 1000, end: endMs / 1000 };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  return await detectShots(env, requireVideoTrack(input), range);
}

/** A sampled frame with its thumbnail and its full luma. */
interface AnalyzedFrame {
  ms: number;
  lumaThumbnail: Uint8Array;
  luma: Uint8Array;
}

/**
 * Stores the frames of one window as reference frames for temporal alignment. Stores signatures of
 * distinct frames of the segments that begin in the window, for lookup, and once more in R2, since
 * the frames are deleted. A window without frames stores nothing.
 */
export async function indexFrames(env: Env, asset: Asset, part: number): Promise<void> {
  const range = { assetId: asset.assetId, ...windowRange(asset, part) };
  const windowFrames = await readFrames(env.MEDIA, asset, part);
  if (windowFrames.length === 0) return;
  const lumaThumbnails = new Uint8Array(windowFrames.length * COPY_DETECTION.thumbnailSide ** 2);
  for (const [i, { lumaThumbnail }] of windowFrames.entries()) {
    lumaThumbnails.set(lumaThumbnail, i * lumaThumbnail.length);
  }
  const times = windowFrames.map(({ ms }) => ms);
  await putReferenceFrames(env.MEDIA, asset, part, { times, lumaThumbnails });
  const db = indexDatabase(env, asset);
  const overlapping = await listSegmentsWithin(db, range);
  const segments = overlapping.filter(({ startMs }) => startMs! >= range.startMs);
  const crossesEnd = segments.some(({ endMs }) => endMs! > range.endMs);
  const frames = crossesEnd
    ? windowFrames.concat(await readFrames(env.MEDIA, asset, part + 1))
    : windowFrames;
  const signatures = segments.flatMap((segment) => farthestFrames(segment, frames));
  const ids = segments.map(({ segmentId }) => segmentId);
  await putFrameSignatures(db, ids, signatures);
  await putArchivedSignatures(env.MEDIA, asset, part, segments, signatures);
}

async function readFrames(bucket: R2Bucket, asset: Asset, part: number): Promise<AnalyzedFrame[]> {
  const analysis = await getWindowAnalysis(bucket, asset, part);
  const luma = analysis && (await getAnalysisBytes(bucket, asset, part, "luma"));
  if (!luma) return [];
  const size = SIGNATURE.side ** 2;
  return analysis.frames.map(({ seconds, lumaThumbnail }, i) => ({
    ms: toPresentationMs(seconds),
    lumaThumbnail: decodeThumbnail(lumaThumbnail),
    luma: luma.subarray(i * size, (i + 1) * size),
  }));
}

/**
 * Signs frames of a segment that are similar to neither its keyframe nor each other. Picks the
 * frame least similar to those picked so far (farthest-point sampling: Gonzalez, "Clustering to
 * Minimize the Maximum Intercluster Distance", 1985).
 */
function farthestFrames(
  { segmentId, startMs, endMs, keyframeMs }: Segment,
  frames: AnalyzedFrame[],
): FrameSignature[] {
  const candidates = frames.flatMap(({ ms, lumaThumbnail, luma }) => {
    if (ms < startMs! || ms >= endMs!) return [];
    const vector = sampleArea(lumaThumbnail, WHOLE, COPY_DETECTION.thumbnailSide);
    return [{ ms, luma, vector, maxCorrelation: -1 }];
  });
  const keyframe = candidates.findLast(({ ms }) => ms <= keyframeMs) ?? candidates[0];
  const signatures: FrameSignature[] = [];
  for (let last = keyframe; last && signatures.length < COPY_DETECTION.maxFrameSignatures;) {
    for (const frame of candidates) {
      frame.maxCorrelation = Math.max(frame.maxCorrelation, dot(frame.vector, last.vector));
    }
    last = candidates.reduce((a, b) => (b.maxCorrelation < a.maxCorrelation ? b : a));
    if (last.maxCorrelation >= COPY_DETECTION.maxDistinctCorrelation) break;
    signatures.push({ segmentId, ms: last.ms, signature: computeSignature(last.luma) });
  }
  return signatures;
}
