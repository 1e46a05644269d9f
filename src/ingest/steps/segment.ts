import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { INGEST } from "../../config.ts";
import { SHOTS } from "../../parameters.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments, upsertSegments } from "../../store/index-database/segments.ts";
import { getWindowAnalysis, type WindowAnalysis } from "../../store/r2/window-analysis.ts";
import { getCues, getTranscript } from "../../store/transcripts.ts";
import type { Asset, Cue } from "../../types.ts";
import { openSampledFrames } from "../segmentation/sampled-frames.ts";
import { segmentVideo, toImageSegment, toVideoSegments } from "../segmentation/segment-video.ts";
import { selectKeyframe } from "../segmentation/select-keyframe.ts";
import { findSilences } from "../segmentation/split-long-shots.ts";
import { countWindows, windowAt } from "../segmentation/windows.ts";
import type { FanOut } from "../state.ts";
import { countAudioChunks } from "../transcript/audio-chunks.ts";
import { splitLongCues } from "../transcript/cue-times.ts";

/**
 * Divides the asset into segments. Segments of an earlier run stay, because descriptions and
 * transcripts refer to them. Speech isn't recognised in a video that came with a transcript with
 * times. A transcript without times gets them from the recognised speech.
 */
export async function segment(env: Env, asset: Asset): Promise<FanOut> {
  const submittedCues = await getSubmittedCues(env, asset);
  const hasTimes = submittedCues?.every(({ start }) => !Number.isNaN(start)) === true;
  const segmentCount =
    asset.assetType === "image"
      ? await putImageSegment(env, asset)
      : await putVideoSegments(env, asset, hasTimes ? submittedCues : []);
  const partCount = Math.ceil(segmentCount / INGEST.segmentsPerPart);
  return {
    recognize_speech: hasTimes ? 0 : countAudioChunks(asset),
    describe: partCount,
    index_frames: countWindows(asset),
    embed: partCount,
  };
}

/** Returns the number of segments. */
async function putImageSegment(env: Env, asset: Asset): Promise<number> {
  await upsertSegments(indexDatabase(env, asset), asset, [await toImageSegment(asset)]);
  return 1;
}

/** Returns the cues that came with the video, null without any. */
async function getSubmittedCues(env: Env, asset: Asset): Promise<Cue[] | null> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  if (transcript === null || transcript.source === "asr") return null;
  return getCues(env.MEDIA, asset);
}

/** Returns the number of segments. Keeps to the frame operations that the video may take. */
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
  const maxSegments = maxFrameOperations(asset) - usedOperations; // a keyframe is one operation
  const input = { frames, transitions, silences };
  const ranges = (await segmentVideo(asset.durationMs, input, maxSegments)).map((range) => {
    const { startMs, endMs } = range;
    const nearby = windows
      .slice(Math.max(0, windowAt(startMs) - 1), windowAt(endMs) + 1)
      .flatMap((window) => window.transitions);
    return { startMs, endMs, keyframeMs: selectKeyframe(range, frames.framesIn(range), nearby) };
  });
  await upsertSegments(db, asset, await toVideoSegments(asset, ranges));
  return ranges.length;
}

/** Returns how many operations of the FRAMES binding a video may take, keyframes included. */
function maxFrameOperations({ durationMs }: Asset): number {
  const hours = durationMs / 3_600_000;
  return Math.max(SHOTS.minFrameOperations, Math.floor(SHOTS.frameOperationsPerHour * hours));
}

/** Lists the analyses of all windows of a video, empty ones for windows that have none. */
function listWindowAnalyses({ MEDIA }: Env, asset: Asset): Promise<WindowAnalysis[]> {
  const windows = Array.from({ length: countWindows(asset) }, (_, window) => window);
  return mapConcurrent(
    windows,
    CONNECTIONS,
    async (window) => (await getWindowAnalysis(MEDIA, asset, window)) ?? EMPTY_ANALYSIS,
  );
}

const EMPTY_ANALYSIS: WindowAnalysis = { frames: [], transitions: [], operations: 0 };
