import { openAsBlob } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { cutsByFilter, FILTERS } from "../shots/filters.ts";
import { add, scores, type Span, tally, type Tally } from "../shots/match.ts";
import type { Watched } from "../shots/watched.ts";
import { canStage, RATE, type StagedFilm, stageFilms } from "../shots/staged-films.ts";
import { type Service, withService } from "../service.ts";
import { round, type Suite, type SuiteOptions } from "../suite.ts";

const WORKER = "bench/shots/shots-worker.ts";
const STAGED = 4;
const NONE: Tally = { hits: 0, falseAlarms: 0, misses: 0 };

/** `annotations.json`, as ClipShots lays it out (Tang et al., 2018). */
type Annotations = Record<
  string,
  {
    frame_num: number;
    fps: number;
    transitions: [lastBefore: number, firstAfter: number][];
    types: string[];
  }
>;

interface Film extends StagedFilm {
  fps: number;
}

interface Contestant {
  name: string;
  cuts: Tally;
  gradual: Tally;
  /** Whatever its kind. */
  any: Tally;
}

async function readFilms(dataDir: string): Promise<Film[]> {
  const folder = join(dataDir, "shots");
  const text = await readFile(join(folder, "annotations.json"), "utf8");
  return Object.entries(JSON.parse(text) as Annotations).map(([file, film]) => ({
    path: join(folder, file),
    fps: film.fps,
    seconds: film.frame_num / film.fps,
    truth: film.transitions.map(([from, to], i) => {
      return { kind: film.types[i] === "cut" ? "cut" : "gradual", from, to };
    }),
  }));
}

async function watch({ url }: Service, { path }: Film, signal: AbortSignal): Promise<Watched> {
  const body = await openAsBlob(path);
  const response = await fetch(`${url}/shots`, { method: "POST", body, signal });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Watched;
}

function compare(name: string, films: Film[], found: Span[][]): Contestant {
  const sum = (kind: Span["kind"] | null) =>
    films.reduce((all, { truth }, i) => add(all, tally(truth, found[i]!, kind)), NONE);
  return { name, cuts: sum("cut"), gradual: sum("gradual"), any: sum(null) };
}

function toRow({ name, cuts, gradual, any }: Contestant) {
  const f1 = (of: Tally) => round(scores(of).f1, 3);
  return { name, cuts: f1(cuts), gradual: f1(gradual), any: f1(any) };
}

function toScores(all: Tally) {
  const { f1, precision, recall } = scores(all);
  return { f1: round(f1, 4), precision: round(precision, 4), recall: round(recall, 4) };
}

/** Ours first, then FFmpeg's filters. */
async function contest(films: Film[], service: Service, { log, signal }: SuiteOptions) {
  const found: Span[][] = [];
  let [operations, pictures] = [0, 0];
  for (const film of films) {
    const watched = await watch(service, film, signal);
    const frame = (seconds: number) => Math.round(seconds * film.fps);
    found.push(
      watched.transitions.map(({ kind, from, to }) => {
        return { kind, from: frame(from), to: frame(to) };
      }),
    );
    operations += watched.operations;
    pictures += watched.pictures;
    log(`${basename(film.path)}: ${watched.transitions.length} transitions`);
  }
  const contestants = [compare("Sightline", films, found)];
  for (const [name, filter] of Object.entries(FILTERS)) {
    const cuts: Span[][] = [];
    for (const { path, fps } of films) cuts.push(await cutsByFilter(path, filter, fps, signal));
    contestants.push(compare(name, films, cuts));
  }
  const minutes = films.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const [ours] = contestants;
  return {
    rows: contestants.map(toRow),
    figures: {
      cuts: toScores(ours!.cuts),
      gradual: toScores(ours!.gradual),
      videos: films.length,
      minutes: round(minutes),
      transitions: films.reduce((sum, { truth }) => sum + truth.length, 0),
      looks_per_hour: Math.round((operations * 60) / minutes),
      pictures_per_minute: Math.round(pictures / minutes),
    },
  };
}

export const suite: Suite = {
  summary:
    "transitions of <DIR>/shots, and of films staged with more of them; beside FFmpeg's filters",
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), "sightline-bench-"));
    try {
      const films = await readFilms(options.dataDir);
      const staged = canStage(options.dataDir)
        ? await stageFilms(options.dataDir, STAGED, folder, options.signal)
        : [];
      return await withService(
        options,
        async (service) => {
          const given = await contest(films, service, options);
          const own = staged.map((film): Film => Object.assign({ fps: RATE }, film));
          const more = own.length > 0 ? await contest(own, service, options) : null;
          const table = given.rows.map((row) => Object.assign({ films: "given" }, row));
          for (const row of more?.rows ?? []) table.push(Object.assign({ films: "staged" }, row));
          return { table, json: { ...given.figures, staged: more?.figures ?? null, table } };
        },
        WORKER,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
