import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Hit } from "sightline";
import { collectExamples } from "../../tools/calibration/collect-examples.ts";
import { writeCorpus } from "../../tools/calibration/corpus.ts";
import { collectImageExamples } from "../../tools/calibration/image-examples.ts";
import type { Corpus, JudgedQuery } from "../../tools/calibration/judgments.ts";
import { sampleQueries } from "../../tools/calibration/questions.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { ndcg } from "../../tools/ndcg.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { binForecasts, calibrationError } from "../../tools/reliability.ts";
import { type Service, withService } from "../../tools/service.ts";
import { PROJECT } from "../../tools/stack/local-state.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";
import { rankByChannels } from "../rankings.ts";
import { drawReliability } from "../reliability-diagram.ts";
import { suite as copyDetection } from "./copy-detection.ts";
import { suite as imageCopies } from "./image-copies.ts";

const DEPTH = 200;
const SEED = 1;
/** Photos laid out as an archive of all kinds of media, to measure calibration. */
const ARCHIVE_PHOTOS = 500;
const ARCHIVE_QUERIES = 800;
const ARCHIVE_IMAGE_QUERIES = 120;
const DIAGRAM = join(PROJECT, ".wrangler/reliability.svg");

interface SearchCase {
  query: string;
  /** Returns whether a hit is relevant. */
  isRight: (hit: Hit) => boolean;
}

interface Clip {
  file: string;
  caption: string;
}
interface Narration {
  file: string;
  segments?: { start: number; end: number; text: string }[];
}

/** Queries: one caption of each photo. Relevant: the photo itself. */
async function photoCases({ ingest }: Service, photos: CaptionedPhoto[]): Promise<SearchCase[]> {
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

/** Queries: the caption that people wrote for each clip. Relevant: the clip itself. */
async function clipCases({ ingest }: Service, folder: string): Promise<SearchCase[]> {
  const clips: Clip[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const media = clips.map(({ file }) => ({ path: join(folder, file), kind: "video" as const }));
  const ended = await ingest("clips", media);
  const ready = new Set(ended.filter(({ state }) => state === "ready").map(({ name }) => name));
  return clips
    .filter(({ file }) => ready.has(file))
    .map(({ file, caption }) => ({ query: caption, isRight: ({ title }) => title === file }));
}

/**
 * Queries: the even and the odd words of each spoken sentence. Relevant: hits that overlap the
 * sentence. The index `speech` gets transcripts; in `recognized_speech` the audio is recognised, if
 * this machine has a recogniser.
 */
async function speechCases(
  { ingest }: Service,
  folder: string,
  indexName: "speech" | "recognized_speech",
): Promise<SearchCase[]> {
  const all: Narration[] = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const narrations = all.filter(({ file, segments }) => segments && file.startsWith("narrated"));
  const videos = narrations.map(({ file }): MediaFile => {
    const transcript = join(folder, file.replace(/\.\w+$/, ".srt"));
    const video = { path: join(folder, file), kind: "video" as const };
    return indexName === "recognized_speech" ? video : { ...video, transcript };
  });
  await ingest(indexName, videos);
  return narrations.flatMap(({ file, segments }) =>
    segments!.flatMap(({ start, end, text }) => {
      const words = text.split(/\s+/);
      const isRight = (hit: Hit) =>
        hit.title === file && hit.start_seconds! < end && hit.end_seconds! > start;
      return [1, 0].map((first) => {
        return { query: words.filter((_, i) => i % 2 === first).join(" "), isRight };
      });
    }),
  );
}

/** Runs the queries; the hits include all that any channel found. */
async function runQueries(
  { sightline }: Service,
  indexName: string,
  cases: SearchCase[],
): Promise<JudgedQuery[]> {
  const observed: JudgedQuery[] = [];
  for (const { query, isRight } of cases) {
    const body = { query, top_k: DEPTH, collapse: false };
    const { segments } = await sightline.index(indexName).search(body);
    const hits = segments.map((hit) => {
      return { signals: hit.signals, score: hit.score, isRight: isRight(hit) };
    });
    // A clip has many segments, and a sentence may lie in two of them.
    observed.push({ hits, relevantCount: Math.max(1, hits.filter((hit) => hit.isRight).length) });
  }
  return observed;
}

/**
 * For each ranking: percent of queries with a relevant hit among the first 1, 5 and 10, and mean
 * nDCG@10.
 */
function measure(set: string, judged: JudgedQuery[]) {
  const answered = judged.filter(({ relevantCount }) => relevantCount > 0);
  const ranked = answered.map(({ hits, relevantCount }) => ({
    rankings: rankByChannels(hits),
    relevantCount,
  }));
  const rankingNames = Object.keys(rankByChannels([]));
  return rankingNames.map((by) => {
    const relevance = ranked.map((one) => one.rankings[by]!.map(({ isRight }) => isRight));
    const percent = (values: number[]) =>
      round((100 * values.reduce((sum, value) => sum + value, 0)) / values.length, 1);
    const within = (k: number) =>
      percent(relevance.map((ranking) => Number(ranking.slice(0, k).includes(true))));
    const gains = relevance.map((ranking, i) => ndcg(ranking, ranked[i]!.relevantCount));
    const [r1, r5, r10] = [within(1), within(5), within(10)];
    return { set, by, queries: answered.length, r1, r5, r10, ndcg10: percent(gains) };
  });
}

/** Compares the scores of the first ten hits of each query with how often they are relevant. */
function measureCalibration(observed: JudgedQuery[]) {
  const bins = binForecasts(observed.flatMap(({ hits }) => hits.slice(0, 10)));
  const share = (some: JudgedQuery[], matches: (one: JudgedQuery) => boolean) =>
    round((100 * some.filter(matches).length) / some.length, 1);
  const answerable = observed.filter(({ relevantCount }) => relevantCount > 0);
  const unanswerable = observed.filter(({ relevantCount }) => relevantCount === 0);
  return {
    questions: observed.length,
    ece: round(calibrationError(bins), 3),
    /**
     * Percent of queries with a relevant hit, or with any hit if nothing is relevant, that has a
     * score of at least 0.5.
     */
    found_at_half: share(answerable, ({ hits }) =>
      hits.some(({ score, isRight }) => isRight && score >= 0.5),
    ),
    absent_at_half: share(unanswerable, ({ hits }) => hits.some(({ score }) => score >= 0.5)),
    bins: bins.map(({ count, predicted, observed: observedShare }) => {
      return { count, predicted: round(predicted, 3), observed: round(observedShare, 3) };
    }),
  };
}

async function measureArchive(service: Service, photos: CaptionedPhoto[], corpus: Corpus) {
  await service.ingest("archive", corpus.files);
  const questions = sampleQueries(corpus, ARCHIVE_QUERIES, createRandom(SEED));
  const random = createRandom(SEED);
  const index = service.sightline.index("archive");
  const text = await collectExamples(index, corpus, questions);
  const images = await collectImageExamples(index, corpus, photos, ARCHIVE_IMAGE_QUERIES, random);
  return { text, images };
}

export const suite: Suite = {
  summary: "recall and nDCG for photos, clips and speech; calibration of scores; copy detection",
  async run(options) {
    const { dataDir, log } = options;
    const photos = await readCaptionedPhotos(join(dataDir, "photos"));
    const order = shuffle(photos.length, createRandom(SEED)).slice(0, ARCHIVE_PHOTOS);
    const some = order.map((at) => photos[at]!);
    const folder = await mkdtemp(join(tmpdir(), "sightline-archive-"));
    try {
      const corpus = await writeCorpus(folder, some);
      const ours = await withService(options, async (service) => {
        const rows = [];
        const sets = {
          photos: () => photoCases(service, photos),
          clips: () => clipCases(service, join(dataDir, "videos")),
          speech: () => speechCases(service, join(dataDir, "speech"), "speech"),
          recognized_speech: () =>
            speechCases(service, join(dataDir, "speech"), "recognized_speech"),
        };
        for (const [set, cases] of Object.entries(sets)) {
          log(`${set}:`);
          rows.push(...measure(set, await runQueries(service, set, await cases())));
        }
        log("archive:");
        const { text, images } = await measureArchive(service, some, corpus);
        rows.push(...measure("archive", text));
        const calibration = {
          text: measureCalibration(text),
          images: measureCalibration(images),
        };
        await mkdir(dirname(DIAGRAM), { recursive: true });
        await writeFile(DIAGRAM, drawReliability(calibration.text.bins));
        log(`${DIAGRAM}: reliability diagram`);
        for (const [kind, { questions, ece, ...share }] of Object.entries(calibration)) {
          const found = `a relevant hit of .5 or more ${share.found_at_half} %`;
          const absent = `any, if nothing is relevant, ${share.absent_at_half} %`;
          log(`${questions} ${kind} queries: calibration error ${ece}; ${found}; ${absent}`);
        }
        return { rows, calibration };
      });
      log("edited photos and clips as queries:");
      const [images, videos] = [await imageCopies.run(options), await copyDetection.run(options)];
      return {
        table: [...ours.rows, ...images.table, ...videos.table],
        json: {
          sets: ours.rows,
          calibration: ours.calibration,
          image_copies: images.json,
          copy_detection: videos.json,
        },
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
