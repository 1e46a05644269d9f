import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Hit, ServerError } from "sightline";
import { openFile } from "sightline/node";
import { type Service, withService } from "../../tools/service.ts";
import { quantile, round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import {
  writeEditedClips,
  VIDEO_EDITS,
  type LocalVideo,
  type EditedClip,
  concatClips,
  readDurationSeconds,
  randomNumbers,
} from "../edited-clips.ts";
import { findStaticRange } from "../static-run.ts";

const INDEX = "clip";
const MIN_SECONDS = 3;
const CONCATENATED_VIDEOS = 2;
/** Queries of a concatenated video, relative to a single clip. */
const CONCATENATED_WEIGHT = 3;
const EDITS_PER_VIDEO = 4;
const TOLERANCE_SECONDS = 0.5;

interface Outcome {
  edit: string;
  isFirst: boolean;
  /** Larger error of start and end, in seconds; infinite if another video ranks first. */
  error: number;
  milliseconds: number;
}

/** Returns every second clip as it is, and videos concatenated from the rest. */
async function listVideos(
  { dataDir, signal }: SuiteOptions,
  folder: string,
): Promise<LocalVideo[]> {
  const videos = join(dataDir, "videos");
  const listed: { file: string }[] = JSON.parse(
    await readFile(join(videos, "manifest.json"), "utf8"),
  );
  const clips: LocalVideo[] = [];
  for (const { file } of listed) {
    const path = join(videos, file);
    const seconds = await readDurationSeconds(path);
    if (seconds >= MIN_SECONDS) clips.push({ path, seconds });
  }
  const isSingleClip = ({ path }: LocalVideo, i: number) => i % 2 === 0 && !path.endsWith(".avi");
  const otherPaths = clips.filter((clip, i) => !isSingleClip(clip, i)).map(({ path }) => path);
  const concatenated = await concatClips(otherPaths, CONCATENATED_VIDEOS, folder, signal);
  return [...clips.filter(isSingleClip), ...concatenated];
}

async function queryClip(
  { sightline }: Service,
  clip: EditedClip,
  signal: AbortSignal,
): Promise<Outcome> {
  const { edit, path, original, region } = clip;
  const range = region && {
    start_seconds: Number(region.start.toFixed(3)),
    end_seconds: Number(region.end.toFixed(3)),
  };
  const video_file = await openFile(path);
  const search = () => sightline.index(INDEX).searchByVideo({ video_file, top_k: 5, ...range });
  let startedAt = performance.now();
  const response = await search().catch((error: unknown) => {
    if (!(error instanceof ServerError && error.status === 503)) throw error;
    startedAt = performance.now(); // busy: one retry
    return search();
  });
  const milliseconds = performance.now() - startedAt;
  const [first] = response.segments;
  const isFirst = first?.title === basename(original.path);
  const error = isFirst ? await measureTimeError(first, clip, signal) : Infinity;
  return { edit, isFirst, error, milliseconds };
}

/**
 * Returns the time error of a hit in seconds. Any moment within a static range is as right as the
 * true one.
 */
async function measureTimeError(
  hit: Hit,
  { original, start, end }: EditedClip,
  signal: AbortSignal,
): Promise<number> {
  const [from, to] = [hit.start_seconds ?? Infinity, hit.end_seconds ?? Infinity];
  const error = Math.max(Math.abs(from - start), Math.abs(to - end));
  if (error <= TOLERANCE_SECONDS) return error;
  const run = await findStaticRange(original.path, original.seconds, { start, end }, signal);
  return run ? Math.max(0, run.start - from, to - run.end) : error;
}

function summarize(outcomes: Outcome[]) {
  const percent = (matches: (outcome: Outcome) => boolean) =>
    round((100 * outcomes.filter(matches).length) / outcomes.length, 1);
  const errors = outcomes.map(({ error }) => error);
  return {
    clips: outcomes.length,
    first: percent(({ isFirst }) => isFirst),
    within_half_second: percent(({ error }) => error <= TOLERANCE_SECONDS),
    median_error: round(quantile(errors, 0.5)),
    ms_p50: Math.round(
      quantile(
        outcomes.map(({ milliseconds }) => milliseconds),
        0.5,
      ),
    ),
  };
}

export const suite: Suite = {
  summary: "edited clips of <DIR>/videos: are the original and its time range found?",
  async run(options) {
    const { log, signal } = options;
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const videos = await listVideos(options, folder);
      return await withService(options, async (service) => {
        const media = videos.map(({ path }) => ({ path, kind: "video" as const }));
        const ended = await service.ingest(INDEX, media);
        const ready = videos.filter((_, i) => ended[i]?.state === "ready");
        const queried = ready.flatMap((video) =>
          video.path.startsWith(folder)
            ? Array.from({ length: CONCATENATED_WEIGHT }, () => video)
            : video,
        );
        const random = randomNumbers(42);
        const names = Object.keys(VIDEO_EDITS);
        const outcomes: Outcome[] = [];
        for (const [i, video] of queried.entries()) {
          const edits = Array.from({ length: EDITS_PER_VIDEO }, (_, at) => {
            return names[(i * EDITS_PER_VIDEO + at) % names.length]!;
          });
          for (const clip of await writeEditedClips(video, edits, folder, random, signal)) {
            outcomes.push(await queryClip(service, clip, signal));
            await rm(clip.path);
          }
          const { first, within_half_second: timed } = summarize(outcomes);
          log(
            `${i + 1} of ${queried.length}, ${basename(video.path)}: so far ${first} and ${timed} %`,
          );
        }
        const byEdit = Map.groupBy(outcomes, ({ edit }) => edit);
        const table = [...byEdit].map(([edit, editOutcomes]) =>
          Object.assign({ edit }, summarize(editOutcomes)),
        );
        const all = summarize(outcomes);
        table.push(Object.assign({ edit: "all" }, all));
        return { table, json: { videos: ready.length, ...all, edits: table } };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
