import { isAudioOnly } from "../../asset-kind.ts";
import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { INGEST } from "../../config.ts";
import { cellRange, cellsOf, findPauses, toWaveform } from "../../media/waveform.ts";
import { SHOTS } from "../../parameters.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import {
  listSegments,
  NO_KEYFRAME_MS,
  upsertSegments,
} from "../../store/index-database/segments.ts";
import {
  getAnalysisBytes,
  getWindowAnalysis,
  type WindowAnalysis,
} from "../../store/r2/window-analysis.ts";
import { getCues, getTranscript } from "../../store/transcripts.ts";
import type { Asset, Cue } from "../../types.ts";
import {
  segmentAudio,
  segmentVideo,
  toSegments,
  selectKeyframe,
  findSilences,
} from "../segmentation.ts";
import type { FanOut } from "../state.ts";
import { countAudioChunks } from "../transcript/audio-chunks.ts";
import { splitLongCues } from "../transcript/cue-times.ts";
import { openSampledFrames, countWindows, windowAt } from "../windows.ts";

/**
 * Divides a video or an image into segments; sound waits for its cues. Segments of an earlier run
 * stay, because descriptions and transcripts refer to them. Speech isn't recognised in a video that
 * came with a transcript with times. A transcript without times gets them from the recognised
 * speech.
 */
export async function segment(env: Env, asset: Asset): Promise<FanOut> {
  const submittedCues = await getSubmittedCues(env, asset);
  const hasTimes = submittedCues?.every(({ start }) => !Number.isNaN(start)) === true;
  const recognize_speech = hasTimes ? 0 : countAudioChunks(asset);
  if (isAudioOnly(asset)) return { recognize_speech, describe: 0, index_frames: 0 };
  const segmentCount =
    asset.assetType === "image"
      ? await putImageSegment(env, asset)
      : await putVideoSegments(env, asset, hasTimes ? submittedCues : []);
  const partCount = countParts(segmentCount);
  return {
    recognize_speech,
    describe: partCount,
    index_frames: countWindows(asset),
    embed: partCount,
  };
}

function countParts(segmentCount: number): number {
  return Math.ceil(segmentCount / INGEST.segmentsPerPart);
}

/**
 * Divides sound without pictures into segments at the pauses between its cues, and else at those of
 * its amplitudes, whose waveform it stores. Segments of an earlier run stay.
 */
export async function segmentAudioOnly(env: Env, asset: Asset, cues: Cue[]): Promise<FanOut> {
  const { durationMs } = asset;
  const db = indexDatabase(env, asset);
  const existing = await listSegments(db, asset.assetId);
  const amplitudes = await readAmplitudes(env, asset);
  if (amplitudes) {
    await updateProperties(env.DB, asset.assetId, { waveform: toWaveform(amplitudes) });
  }
  if (existing.at(-1)?.endMs === durationMs) return { embed: countParts(existing.length) };
  const pauses = [
    findSilences(splitLongCues(cues, durationMs / 1000), durationMs),
    amplitudes ? findPauses(amplitudes, durationMs) : [],
  ];
  const ranges = segmentAudio(durationMs, pauses).map(({ startMs, endMs }) => {
    return { startMs, endMs, keyframeMs: NO_KEYFRAME_MS };
  });
  await upsertSegments(db, asset, await toSegments(asset, ranges));
  return { embed: countParts(ranges.length) };
}

/** Returns the amplitudes of all cells, 0 where they are unknown; null if all are. */
async function readAmplitudes({ MEDIA }: Env, asset: Asset): Promise<Uint8Array | null> {
  const { count } = cellsOf(asset.durationMs);
  const partCount = countAudioChunks(asset);
  const parts = Array.from({ length: partCount }, (_, part) => part);
  const stored = await mapConcurrent(parts, CONNECTIONS, (part) =>
    getAnalysisBytes(MEDIA, asset, part, "amplitudes"),
  );
  if (stored.every((amplitudes) => amplitudes === null)) return null;
  const all = new Uint8Array(count);
  for (const [part, amplitudes] of stored.entries()) {
    if (amplitudes) all.set(amplitudes, cellRange(count, part, partCount).from);
  }
  return all;
}

async function putImageSegment(env: Env, asset: Asset): Promise<number> {
  const segments = await toSegments(asset, [{ startMs: null, endMs: null, keyframeMs: 0 }]);
  await upsertSegments(indexDatabase(env, asset), asset, segments);
  return 1;
}

async function getSubmittedCues(env: Env, asset: Asset): Promise<Cue[] | null> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  if (transcript === null || transcript.source === "asr") return null;
  return getCues(env.MEDIA, asset);
}

async function putVideoSegments(env: Env, asset: Asset, cues: Cue[]): Promise<number> {
  const db = indexDatabase(env, asset);
  const existing = await listSegments(db, asset.assetId);
  if (existing.at(-1)?.endMs === asset.durationMs) {
    await upsertSegments(db, asset, existing);
    return existing.length;
  }
  const windows = await listWindowAnalyses(env, asset);
  const frames = openSampledFrames(env.MEDIA, asset, windows);
  const transitions = windows.flatMap((window) => window.transitions);
  const silences = findSilences(splitLongCues(cues, asset.durationMs / 1000), asset.durationMs);
  const usedOperations = windows.reduce((sum, window) => sum + window.operations, 0);
  const maxOperations = maxFrameOperations(asset);
  const maxSegments = Math.max(
    Math.floor(SHOTS.minKeyframeShare * maxOperations),
    maxOperations - usedOperations, // a keyframe is one operation
  );
  const input = { frames, transitions, silences };
  const ranges = (await segmentVideo(asset.durationMs, input, maxSegments)).map((range) => {
    const { startMs, endMs } = range;
    const nearby = windows
      .slice(Math.max(0, windowAt(startMs) - 1), windowAt(endMs) + 1)
      .flatMap((window) => window.transitions);
    return { startMs, endMs, keyframeMs: selectKeyframe(range, frames.framesIn(range), nearby) };
  });
  await upsertSegments(db, asset, await toSegments(asset, ranges));
  return ranges.length;
}

function maxFrameOperations({ durationMs }: Asset): number {
  const hours = durationMs / 3_600_000;
  return Math.max(SHOTS.minFrameOperations, Math.floor(SHOTS.frameOperationsPerHour * hours));
}

function listWindowAnalyses({ MEDIA }: Env, asset: Asset): Promise<WindowAnalysis[]> {
  const windows = Array.from({ length: countWindows(asset) }, (_, window) => window);
  return mapConcurrent(
    windows,
    CONNECTIONS,
    async (window) => (await getWindowAnalysis(MEDIA, asset, window)) ?? EMPTY_ANALYSIS,
  );
}

const EMPTY_ANALYSIS: WindowAnalysis = { frames: [], transitions: [], operations: 0 };
