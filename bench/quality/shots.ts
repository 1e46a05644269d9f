import { openAsBlob } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { detectCutsByFilter, FILTERS } from "../shots/filters.ts";
import {
  addCounts,
  toScores,
  type FrameTransition,
  countDetections,
  type DetectionCounts,
} from "../shots/match.ts";
import type { ShotResult } from "../shots/shot-result.ts";
import { canStage, RATE, type StagedVideo, writeStagedVideos } from "../shots/staged-videos.ts";

const WORKER = "bench/shots/shots-worker.ts";
const STAGED_COUNT = 4;
/** What FRAMES may take the size of a contact sheet for, which its documentation doesn't say. */
const SIZES_OF = ["tile", "sheet"] as const;
type SizeOf = (typeof SIZES_OF)[number];
const NO_DETECTIONS: DetectionCounts = { hits: 0, falseAlarms: 0, misses: 0 };

/** Layout of `annotations.json`: that of ClipShots (Tang et al., 2018). */
type Annotations = Record<
  string,
  {
    frame_num: number;
    fps: number;
    transitions: [lastBefore: number, firstAfter: number][];
    types: string[];
  }
>;

interface AnnotatedVideo extends StagedVideo {
  fps: number;
}

interface DetectorScores {
  name: string;
  cuts: DetectionCounts;
  gradual: DetectionCounts;
  /** Transitions of any kind. */
  any: DetectionCounts;
}

async function readAnnotatedVideos(dataDir: string): Promise<AnnotatedVideo[]> {
  const folder = join(dataDir, "shots");
  const text = await readFile(join(folder, "annotations.json"), "utf8");
  return Object.entries(JSON.parse(text) as Annotations).map(([file, video]) => ({
    path: join(folder, file),
    fps: video.fps,
    seconds: video.frame_num / video.fps,
    truth: video.transitions.map(([from, to], i) => {
      return { kind: video.types[i] === "cut" ? "cut" : "gradual", from, to };
    }),
  }));
}

async function detectShots(
  { url }: Service,
  { path }: AnnotatedVideo,
  sizeOf: SizeOf,
  signal: AbortSignal,
): Promise<ShotResult> {
  const body = await openAsBlob(path);
  const response = await fetch(`${url}/shots?size_of=${sizeOf}`, { method: "POST", body, signal });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as ShotResult;
}

function scoreDetector(
  name: string,
  videos: AnnotatedVideo[],
  found: FrameTransition[][],
): DetectorScores {
  const sum = (kind: FrameTransition["kind"] | null) =>
    videos.reduce(
      (all, { truth }, i) => addCounts(all, countDetections(truth, found[i]!, kind)),
      NO_DETECTIONS,
    );
  return { name, cuts: sum("cut"), gradual: sum("gradual"), any: sum(null) };
}

function toRow({ name, cuts, gradual, any }: DetectorScores) {
  const f1 = (of: DetectionCounts) => round(toScores(of).f1, 3);
  return { name, cuts: f1(cuts), gradual: f1(gradual), any: f1(any) };
}

function roundScores(all: DetectionCounts) {
  const { f1, precision, recall } = toScores(all);
  return { f1: round(f1, 4), precision: round(precision, 4), recall: round(recall, 4) };
}

/** Scores our detector, with what it costs. */
async function measureDetector(
  videos: AnnotatedVideo[],
  service: Service,
  sizeOf: SizeOf,
  { log, signal }: SuiteOptions,
) {
  const found: FrameTransition[][] = [];
  let [operations, frames] = [0, 0];
  for (const video of videos) {
    const result = await detectShots(service, video, sizeOf, signal);
    const frame = (seconds: number) => Math.round(seconds * video.fps);
    found.push(
      result.transitions.map(({ kind, from, to }) => {
        return { kind, from: frame(from), to: frame(to) };
      }),
    );
    operations += result.operationCount;
    frames += result.frameCount;
    log(`${basename(video.path)}: ${result.transitions.length} transitions by ${sizeOf}`);
  }
  const minutes = toMinutes(videos);
  const scores = scoreDetector(`Sightline, size of a ${sizeOf}`, videos, found);
  return {
    scores,
    figures: {
      cuts: roundScores(scores.cuts),
      gradual: roundScores(scores.gradual),
      operations_per_hour: Math.round((operations * 60) / minutes),
      frames_per_minute: Math.round(frames / minutes),
    },
  };
}

function toMinutes(videos: AnnotatedVideo[]): number {
  return videos.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
}

type Measured = Awaited<ReturnType<typeof measureDetector>>;

/** Compares our detector, as measured for each of `SIZES_OF`, with FFmpeg's filters. */
async function compareDetectors(videos: AnnotatedVideo[], ours: Measured[], options: SuiteOptions) {
  const detectors = ours.map(({ scores }) => scores);
  for (const [name, filter] of Object.entries(FILTERS)) {
    const cuts: FrameTransition[][] = [];
    for (const { path, fps } of videos)
      cuts.push(await detectCutsByFilter(path, filter, fps, options.signal));
    detectors.push(scoreDetector(name, videos, cuts));
  }
  const [byTile, bySheet] = ours.map(({ figures }) => figures);
  return {
    rows: detectors.map(toRow),
    figures: {
      ...byTile!,
      by_sheet: bySheet!,
      videos: videos.length,
      minutes: round(toMinutes(videos)),
      transitions: videos.reduce((sum, { truth }) => sum + truth.length, 0),
    },
  };
}

export const suite: Suite = {
  summary:
    "F1 of cuts and gradual transitions, <DIR>/shots and staged videos, next to FFmpeg's filters",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const videos = await readAnnotatedVideos(options.dataDir);
      const staged = canStage(options.dataDir)
        ? await writeStagedVideos(options.dataDir, STAGED_COUNT, folder, options.signal)
        : [];
      return await withService(
        options,
        async (service) => {
          const stagedVideos = staged.map((video): AnnotatedVideo =>
            Object.assign({ fps: RATE }, video),
          );
          const sets = [
            { set: "annotated", videos },
            ...(stagedVideos.length > 0 ? [{ set: "staged", videos: stagedVideos }] : []),
          ];
          const measured: Measured[][] = sets.map(() => []);
          // The outer loop, because the platform doesn't change back and forth.
          for (const sizeOf of SIZES_OF) {
            for (const [i, set] of sets.entries())
              measured[i]!.push(await measureDetector(set.videos, service, sizeOf, options));
          }
          const results = [];
          for (const [i, { set, videos: ofSet }] of sets.entries()) {
            const { rows, figures } = await compareDetectors(ofSet, measured[i]!, options);
            results.push({ figures, rows: rows.map((row) => Object.assign({ set }, row)) });
          }
          const table = results.flatMap(({ rows }) => rows);
          const [annotatedResult, stagedResult] = results;
          return {
            table,
            json: { ...annotatedResult!.figures, staged: stagedResult?.figures ?? null, table },
          };
        },
        { entry: WORKER },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
