import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Corpus, layOutCorpus } from "../../scripts/calibration/corpus.ts";
import { type Observed, observe } from "../../scripts/calibration/observe.ts";
import { observePictures } from "../../scripts/calibration/pictures.ts";
import { askAbout } from "../../scripts/calibration/questions.ts";
import type { HitRecord } from "../../scripts/demo/api-client.ts";
import type { MediaFile } from "../../scripts/demo/media-files.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../scripts/picture-space/captions.ts";
import { createRandom, shuffle } from "../../scripts/picture-space/random.ts";
import { PROJECT } from "../../scripts/stack/local-state.ts";
import { drawReliability } from "../reliability-diagram.ts";
import { binForecasts, calibrationError } from "../reliability.ts";
import { ndcg } from "../ndcg.ts";
import { rankings } from "../rankings.ts";
import { type Service, withService } from "../service.ts";
import { round, type Suite } from "../suite.ts";
import { suite as edits } from "./edits.ts";
import { suite as footage } from "./footage.ts";

const DEPTH = 200;
const SEED = 1;
/** Laid out as an archive of all kinds of media, to see whether probabilities hold. */
const ARCHIVE_PHOTOS = 500;
const ARCHIVE_QUESTIONS = 800;
const ARCHIVE_PICTURES = 120;
const DIAGRAM = join(PROJECT, ".wrangler/reliability.svg");

interface Case {
  query: string;
  /** Whether a hit is what was meant. */
  isRight: (hit: HitRecord) => boolean;
}

interface Clip {
  file: string;
  caption: string;
}
interface Narration {
  file: string;
  segments?: { start: number; end: number; text: string }[];
}

/** One caption of each photo, as queries: the photo itself is right. */
async function photoCases({ ingest }: Service, photos: CaptionedPhoto[]): Promise<Case[]> {
  const random = createRandom(SEED);
  await ingest(
    "photos",
    photos.map(({ path }) => ({ path, kind: "image" as const })),
  );
  return photos.map(({ path, captions }) => ({
    query: captions[Math.floor(random() * captions.length)]!,
    isRight: ({ title }) => title === basename(path),
  }));
}

/** Captions that people wrote of clips, as queries: the clip itself is right. */
async function clipCases({ ingest }: Service, folder: string): Promise<Case[]> {
  const clips: Clip[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const media = clips.map(({ file }) => ({ path: join(folder, file), kind: "video" as const }));
  const ended = await ingest("clips", media);
  const ready = new Set(ended.filter(({ state }) => state === "ready").map(({ name }) => name));
  return clips
    .filter(({ file }) => ready.has(file))
    .map(({ file, caption }) => ({ query: caption, isRight: ({ title }) => title === file }));
}

/**
 * Either half of the words of what is said, every second one, as queries: a moment that overlaps it is right. The index `speech`
 * is given transcripts, `heard` has only the sound, if this machine has a recogniser.
 */
async function speechCases(
  { ingest }: Service,
  folder: string,
  indexName: "speech" | "heard",
): Promise<Case[]> {
  const all: Narration[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const told = all.filter(({ file, segments }) => segments && file.startsWith("narrated"));
  const films = told.map(({ file }): MediaFile => {
    const transcript = join(folder, file.replace(/\.\w+$/, ".srt"));
    const film = { path: join(folder, file), kind: "video" as const };
    return indexName === "heard" ? film : { ...film, transcript };
  });
  await ingest(indexName, films);
  return told.flatMap(({ file, segments }) =>
    segments!.flatMap(({ start, end, text }) => {
      const words = text.split(/\s+/);
      const isRight = (hit: HitRecord) =>
        hit.title === file && hit.start_seconds! < end && hit.end_seconds! > start;
      return [1, 0].map((first) => {
        return { query: words.filter((_, i) => i % 2 === first).join(" "), isRight };
      });
    }),
  );
}

/** What the cases bring, with all that any channel found. */
async function ask({ api }: Service, indexName: string, cases: Case[]): Promise<Observed[]> {
  const observed: Observed[] = [];
  for (const { query, isRight } of cases) {
    const body = { query, top_k: DEPTH, collapse: false };
    const { segments } = await api.post<{ segments: HitRecord[] }>(
      `/index/${indexName}/search`,
      body,
    );
    const hits = segments.map((hit) => {
      return { signals: hit.signals, score: hit.score, isRight: isRight(hit) };
    });
    // A clip has many segments, and a sentence may lie in two.
    observed.push({ hits, wanted: Math.max(1, hits.filter((hit) => hit.isRight).length) });
  }
  return observed;
}

/** By each way of ranking: with a right hit among the first 1, 5 and 10, and the mean nDCG@10; percent. */
function measure(set: string, observed: Observed[]) {
  const answered = observed.filter(({ wanted }) => wanted > 0);
  const ranked = answered.map(({ hits, wanted }) => ({ ways: rankings(hits), wanted }));
  const ways = Object.keys(rankings([]));
  return ways.map((by) => {
    const rights = ranked.map((one) => one.ways[by]!.map(({ isRight }) => isRight));
    const percent = (values: number[]) =>
      round((100 * values.reduce((sum, value) => sum + value, 0)) / values.length, 1);
    const within = (k: number) =>
      percent(rights.map((some) => Number(some.slice(0, k).includes(true))));
    const gains = rights.map((some, i) => ndcg(some, ranked[i]!.wanted));
    const [r1, r5, r10] = [within(1), within(5), within(10)];
    return { set, by, queries: answered.length, r1, r5, r10, ndcg10: percent(gains) };
  });
}

/** Do the first ten of each question come true as often as their scores say? */
function measureCalibration(observed: Observed[]) {
  const bins = binForecasts(observed.flatMap(({ hits }) => hits.slice(0, 10)));
  const share = (some: Observed[], isSo: (one: Observed) => boolean) =>
    round((100 * some.filter(isSo).length) / some.length, 1);
  const there = observed.filter(({ wanted }) => wanted > 0);
  const absent = observed.filter(({ wanted }) => wanted === 0);
  return {
    questions: observed.length,
    ece: round(calibrationError(bins), 3),
    /** Percent of questions with a right hit, or any, that is likelier than not. */
    found_at_half: share(there, ({ hits }) =>
      hits.some(({ score, isRight }) => isRight && score >= 0.5),
    ),
    absent_at_half: share(absent, ({ hits }) => hits.some(({ score }) => score >= 0.5)),
    bins: bins.map(({ count, stated, observed: came }) => {
      return { count, stated: round(stated, 3), observed: round(came, 3) };
    }),
  };
}

async function measureArchive(service: Service, photos: CaptionedPhoto[], corpus: Corpus) {
  await service.ingest("archive", corpus.files);
  const questions = askAbout(corpus, ARCHIVE_QUESTIONS, createRandom(SEED));
  const random = createRandom(SEED);
  const { api } = service;
  const words = await observe(api, "archive", corpus, questions);
  const pictures = await observePictures(api, "archive", corpus, photos, ARCHIVE_PICTURES, random);
  return { words, pictures };
}

export const suite: Suite = {
  summary:
    "is the right moment found: captions → photos and clips, words → speech; do scores hold?",
  async run(options) {
    const { dataDir, log } = options;
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const order = shuffle(photos.length, createRandom(SEED)).slice(0, ARCHIVE_PHOTOS);
    const some = order.map((at) => photos[at]!);
    const folder = await mkdtemp(join(tmpdir(), "sightline-archive-"));
    try {
      const corpus = await layOutCorpus(folder, some);
      const ours = await withService(options, async (service) => {
        const rows = [];
        const sets = {
          photos: () => photoCases(service, photos),
          clips: () => clipCases(service, join(dataDir, "videos")),
          speech: () => speechCases(service, join(dataDir, "speech"), "speech"),
          heard: () => speechCases(service, join(dataDir, "speech"), "heard"),
        };
        for (const [set, cases] of Object.entries(sets)) {
          log(`${set}:`);
          rows.push(...measure(set, await ask(service, set, await cases())));
        }
        log("archive:");
        const { words, pictures } = await measureArchive(service, some, corpus);
        rows.push(...measure("archive", words));
        const calibration = {
          words: measureCalibration(words),
          pictures: measureCalibration(pictures),
        };
        await mkdir(dirname(DIAGRAM), { recursive: true });
        await writeFile(DIAGRAM, drawReliability(calibration.words.bins));
        log(`${DIAGRAM}: how often scores come true`);
        for (const [kind, { questions, ece, ...share }] of Object.entries(calibration)) {
          const found = `a right hit of .5 or more ${share.found_at_half} %`;
          const absent = `any, where nothing is right, ${share.absent_at_half} %`;
          log(`${questions} questions in ${kind}: calibration error ${ece}; ${found}; ${absent}`);
        }
        return { rows, calibration };
      });
      log("edited photos, and stretches of films, as queries:");
      const [same, again] = [await edits.run(options), await footage.run(options)];
      return {
        table: [...ours.rows, ...same.table, ...again.table],
        json: {
          sets: ours.rows,
          calibration: ours.calibration,
          edits: same.json,
          footage: again.json,
        },
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
