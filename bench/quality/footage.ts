import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ApiError, type HitRecord } from "../../scripts/demo/api-client.ts";
import { streamForm } from "../../scripts/demo/streamed-form.ts";
import {
  cutFootage,
  EDITS,
  type Film,
  type Footage,
  joinClips,
  lengthOf,
  randomNumbers,
} from "../footage-clips.ts";
import { type Service, withService } from "../service.ts";
import { staticRun } from "../static-run.ts";
import { quantile, round, type Suite, type SuiteOptions } from "../suite.ts";

const INDEX = "footage";
const SHORTEST = 3;
const JOINED = 2;
/** A joined film is asked about as often as so many clips. */
const JOINED_WEIGHT = 3;
const EDITS_EACH = 4;
const TOLERANCE = 0.5;

interface Outcome {
  edit: string;
  isFirst: boolean;
  /** Of the start and the end, the larger, in seconds; infinite where it isn't first. */
  error: number;
  milliseconds: number;
}

/** Every other clip, and films made of the rest. */
async function makeFilms({ dataDir, signal }: SuiteOptions, folder: string): Promise<Film[]> {
  const videos = join(dataDir, "videos");
  const listed: { file: string }[] = JSON.parse(
    await readFile(join(videos, "manifest.json"), "utf8"),
  );
  const clips: Film[] = [];
  for (const { file } of listed) {
    const path = join(videos, file);
    const seconds = await lengthOf(path);
    if (seconds >= SHORTEST) clips.push({ path, seconds });
  }
  const isWhole = ({ path }: Film, i: number) => i % 2 === 0 && !path.endsWith(".avi");
  const rest = clips.filter((clip, i) => !isWhole(clip, i)).map(({ path }) => path);
  const joined = await joinClips(rest, JOINED, folder, signal);
  return [...clips.filter(isWhole), ...joined];
}

async function ask({ api }: Service, footage: Footage, signal: AbortSignal): Promise<Outcome> {
  const { edit, path, film, region } = footage;
  const fields = [{ name: "video_file", path }];
  const times = region
    ? [
        { name: "start_seconds", text: region.start.toFixed(3) },
        { name: "end_seconds", text: region.end.toFixed(3) },
      ]
    : [];
  const look = () => {
    const form = streamForm([...times, ...fields]);
    return api.upload<{ segments: HitRecord[] }>(`/index/${INDEX}/search_video?top_k=5`, form);
  };
  let begun = performance.now();
  const found = await look().catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 503)) throw error;
    begun = performance.now(); // busy: asked again, once
    return look();
  });
  const milliseconds = performance.now() - begun;
  const [first] = found.segments;
  const isFirst = first?.title === basename(film.path);
  const error = isFirst ? await errorOf(first, footage, signal) : Infinity;
  return { edit, isFirst, error, milliseconds };
}

/** Where nothing moves, every moment is as right as the true one. */
async function errorOf(
  hit: HitRecord,
  { film, start, end }: Footage,
  signal: AbortSignal,
): Promise<number> {
  const [from, to] = [hit.start_seconds ?? Infinity, hit.end_seconds ?? Infinity];
  const error = Math.max(Math.abs(from - start), Math.abs(to - end));
  if (error <= TOLERANCE) return error;
  const run = await staticRun(film.path, film.seconds, { start, end }, signal);
  return run ? Math.max(0, run.start - from, to - run.end) : error;
}

function sumUp(outcomes: Outcome[]) {
  const percent = (isSo: (outcome: Outcome) => boolean) =>
    round((100 * outcomes.filter(isSo).length) / outcomes.length, 1);
  const errors = outcomes.map(({ error }) => error);
  return {
    clips: outcomes.length,
    first: percent(({ isFirst }) => isFirst),
    within_half_second: percent(({ error }) => error <= TOLERANCE),
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
  summary: "stretches of <DIR>/videos, edited and sped up or down → the same footage and its times",
  async run(options) {
    const { log, signal } = options;
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const films = await makeFilms(options, folder);
      return await withService(options, async (service) => {
        const media = films.map(({ path }) => ({ path, kind: "video" as const }));
        const ended = await service.ingest(INDEX, media);
        const ready = films.filter((_, i) => ended[i]?.state === "ready");
        const asked = ready.flatMap((film) =>
          film.path.startsWith(folder) ? Array.from({ length: JOINED_WEIGHT }, () => film) : film,
        );
        const random = randomNumbers(42);
        const names = Object.keys(EDITS);
        const outcomes: Outcome[] = [];
        for (const [i, film] of asked.entries()) {
          const edits = Array.from({ length: EDITS_EACH }, (_, at) => {
            return names[(i * EDITS_EACH + at) % names.length]!;
          });
          for (const clip of await cutFootage(film, edits, folder, random, signal)) {
            outcomes.push(await ask(service, clip, signal));
            await rm(clip.path);
          }
          const { first, within_half_second: timed } = sumUp(outcomes);
          log(
            `${i + 1} of ${asked.length}, ${basename(film.path)}: so far ${first} and ${timed} %`,
          );
        }
        const byEdit = Map.groupBy(outcomes, ({ edit }) => edit);
        const table = [...byEdit].map(([edit, own]) => Object.assign({ edit }, sumUp(own)));
        const all = sumUp(outcomes);
        table.push(Object.assign({ edit: "all" }, all));
        return { table, json: { films: ready.length, ...all, edits: table } };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
