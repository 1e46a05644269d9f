import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WatchMatch } from "sightline";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import { readWeights, writeWeights } from "../../local/engine/joint-space/weights.ts";
import { judgeHits } from "../../tools/calibration/collect-examples.ts";
import { writeCorpus } from "../../tools/calibration/corpus.ts";
import type { Corpus, GroundTruth } from "../../tools/calibration/judgments.ts";
import {
  createJudge,
  type EvalQuery,
  type Judgment,
  sampleQueries,
} from "../../tools/calibration/questions.ts";
import { ingestFiles } from "../../tools/ingest-files.ts";
import { type Interval, wilsonInterval } from "../../tools/intervals.ts";
import type { MediaFile } from "../../tools/media-files.ts";
import { createRandom } from "../../tools/random-numbers.ts";
import { type Service, withService } from "../../tools/service.ts";
import { round, type Suite, type SuiteOptions } from "../../tools/suite.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../../tools/training/captions.ts";
import { shuffle } from "../../tools/training/random.ts";
import { countAnnouncements } from "../watch-restarts.ts";

const SEED = 4;
/** Photos of which the stream is made, and those whose images alone are watched for. */
const STREAM_PHOTOS = 500;
const IMAGE_PHOTOS = 200;
/** Watches of an index: as many as the service allows. */
const WATCHES = 200;
/** Fewest matches whose share of right ones is compared as it is. */
const MIN_MEASURED = 30;
const STREAM_INDICES = 3;
const THRESHOLDS = [0.5, 0.6, 0.7, 0.8, 0.9] as const;
/** How much lower the share of right matches may be than their mean score. */
const TOLERANCE = 0.03;
/** Share of the matches that may be left when vectors tell nothing. */
const MAX_LEFT = 0.5;

/** A watch, what is relevant to it, and what was announced. */
interface WatchOutcome {
  judgment: Judgment;
  matches: WatchMatch[];
}

/** Creates an index with watches, adds the files, and reads what was announced. */
async function runStream(
  { sightline, url: serviceUrl, folder: stateFolder }: Service,
  indexName: string,
  files: MediaFile[],
  queries: readonly EvalQuery[],
  { truths }: Pick<Corpus, "truths">,
): Promise<WatchOutcome[]> {
  await sightline.indices.create({ index_name: indexName });
  const index = sightline.index(indexName);
  const judge = createJudge(truths);
  const watches = [];
  for (const query of queries) {
    const { watch_id: id } = await index.watches.create({
      name: query.text.slice(0, 100),
      query: query.text,
      min_probability: THRESHOLDS[0],
    });
    watches.push({ id, judgment: judge(query) });
  }
  const output = process.stderr;
  await ingestFiles(files, { sightline, indexName, serviceUrl, stateFolder, output });
  return Promise.all(
    watches.map(async ({ id, judgment }) => {
      const matches: WatchMatch[] = [];
      for await (const match of index.watches.matches(id, { limit: 100 })) matches.push(match);
      return { judgment, matches };
    }),
  );
}

function toRange({ score, segment }: WatchMatch) {
  const { title, start_seconds, end_seconds } = segment;
  return { title, start_seconds, end_seconds, score, signals: {} };
}

/**
 * Compares the scores of the matches with the share that is right, in bins. A bin with few matches
 * is too sure only if the interval of that share is too low as a whole.
 */
function measureBins(outcomes: readonly WatchOutcome[]) {
  const judged = outcomes.flatMap(({ matches, judgment }) => {
    return judgeHits(matches.map(toRange), judgment).hits;
  });
  return THRESHOLDS.map((from, i) => {
    const to = THRESHOLDS[i + 1] ?? Infinity;
    const some = judged.filter(({ score }) => score >= from && score < to);
    const right = some.filter(({ isRight }) => isRight).length;
    const stated = some.reduce((sum, { score }) => sum + score, 0) / some.length;
    const interval = wilsonInterval(right, some.length);
    const share = some.length < MIN_MEASURED ? interval.high : right / some.length;
    return {
      from,
      matches: some.length,
      stated: round(stated, 3),
      right: round(right / some.length, 3),
      interval: formatInterval(interval),
      too_sure: share < stated - TOLERANCE,
    };
  });
}

/** Returns what kinds of evidence the matches of each bin have, and how many of them are right. */
function measureEvidence(outcomes: readonly WatchOutcome[]) {
  const judged = outcomes.flatMap(({ matches, judgment }) =>
    matches.flatMap((match) => {
      const kinds = match.segment.evidence.map(({ kind, text }) => (text ? `${kind} words` : kind));
      const from = THRESHOLDS.findLast((threshold) => match.score >= threshold);
      const [hit] = judgeHits([toRange(match)], judgment).hits;
      return hit ? { key: `${from}: ${kinds.toSorted().join(", ")}`, isRight: hit.isRight } : [];
    }),
  );
  const groups = [...Map.groupBy(judged, ({ key }) => key)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return groups.map(([evidence, some]) => {
    const right = some.filter(({ isRight }) => isRight).length;
    return { evidence, matches: some.length, right: round(right / some.length, 3) };
  });
}

function formatInterval({ low, high }: Interval): string {
  return `${round(low, 3)}–${round(high, 3)}`;
}

/** Share of the relevant moments that have a match of a score or more. */
function measureRecall(outcomes: readonly WatchOutcome[], least: number): number {
  const found = outcomes.flatMap(({ judgment: { relevant }, matches }) => {
    const likely = matches.filter(({ score }) => score >= least);
    const ranges = likely.map(toRange);
    return relevant.map((truth) => {
      const { hits } = judgeHits(ranges, { relevant: [truth], unknown: [] });
      return hits.some(({ isRight }) => isRight);
    });
  });
  return round(found.filter(Boolean).length / found.length, 3);
}

/** Adds the files of a corpus to three indices with other watches each; measures the matches. */
async function measureStream(
  options: SuiteOptions,
  corpus: Corpus,
  clips: Pick<Corpus, "files" | "truths">,
) {
  const queries = sampleQueries(corpus, STREAM_INDICES * WATCHES, createRandom(SEED));
  const files = [...corpus.files, ...clips.files];
  const truths = [...corpus.truths, ...clips.truths];
  const outcomes = await withService(options, async (service) => {
    const all: WatchOutcome[] = [];
    for (let i = 0; i < STREAM_INDICES; i++) {
      const name = `stream-${i}`;
      options.log(`${name}: ${WATCHES} watches, ${files.length} files`);
      const own = queries.slice(i * WATCHES, (i + 1) * WATCHES);
      all.push(...(await runStream(service, name, files, own, { truths })));
      options.log(JSON.stringify(measureBins(all)));
    }
    return all;
  });
  return {
    watches: outcomes.length,
    bins: measureBins(outcomes),
    evidence: measureEvidence(outcomes),
    recall_at_half: measureRecall(outcomes, 0.5),
    recall_at_90: measureRecall(outcomes, 0.9),
  };
}

/** Counts the matches of images alone, by a joint space or by one of which texts tell nothing. */
async function countImageMatches(options: SuiteOptions, photos: CaptionedPhoto[]) {
  const files = photos.map(({ path }): MediaFile => ({ path, kind: "image" }));
  const truths = photos.map(({ path, captions }) => {
    return { file: path.slice(path.lastIndexOf("/") + 1), at: null, captions };
  });
  const random = createRandom(SEED);
  const queries = photos.map(({ captions }): EvalQuery => {
    const caption = captions[Math.floor(random() * captions.length)]!;
    return { text: caption, caption, form: "sentence", isPresent: true };
  });
  const outcomes = await withService(options, (service) =>
    runStream(service, "images", files, queries, { truths }),
  );
  return outcomes.reduce((sum, { matches }) => sum + matches.length, 0);
}

/** Writes weights of the joint space whose vectors of texts are those of other texts. */
async function writeShuffledSpace(path: string): Promise<void> {
  const space = readWeights(await readFile(JOINT_SPACE_FILE));
  const order = shuffle(space.about.vocabulary.length, createRandom(SEED));
  const vocabulary = order.map((at) => space.about.vocabulary[at]!);
  const members = space.members.map((member) => {
    const { inputs, outputs } = member.sentence;
    const rows = shuffle(inputs, createRandom(SEED));
    const data = Float32Array.from(member.sentence.data, (_, i) => {
      return member.sentence.data[rows[Math.floor(i / outputs)]! * outputs + (i % outputs)]!;
    });
    return { ...member, sentence: { ...member.sentence, data } };
  });
  await writeFile(path, writeWeights({ about: { ...space.about, vocabulary }, members }));
}

/** Runs engines with a setting: a file of the joint space, or a folder of remembered replies. */
async function withEngineSetting<T>(
  name: "JOINT_SPACE_FILE" | "ENGINE_REPLIES",
  path: string,
  use: () => Promise<T>,
): Promise<T> {
  process.env[name] = path;
  try {
    return await use();
  } finally {
    delete process.env[name];
  }
}

/** Lists the clips, and what people wrote of them. */
async function listClips(folder: string) {
  const clips: { file: string; caption: string; tags: string[] }[] = JSON.parse(
    await readFile(join(folder, "manifest.json"), "utf8"),
  );
  return {
    files: clips.map(({ file }): MediaFile => ({ path: join(folder, file), kind: "video" })),
    truths: clips.map(({ file, caption, tags }): GroundTruth => {
      return { file, at: null, captions: [caption, ...tags] };
    }),
  };
}

export const suite: Suite = {
  summary:
    "a stream of photos, videos and clips: are matches as often right as they say, is each " +
    "announced once over ten kills, and do shuffled vectors end them?",
  async run(options) {
    const photos = await readCaptionedPhotos(join(options.dataDir, "photos"));
    const order = shuffle(photos.length, createRandom(SEED)).map((at) => photos[at]!);
    const folder = await mkdtemp(join(tmpdir(), "sightline-watches-"));
    try {
      const corpus = await writeCorpus(folder, order.slice(0, STREAM_PHOTOS));
      const clips = await listClips(join(options.dataDir, "videos"));
      const replies = join(folder, "replies");
      await mkdir(replies);
      // All indices get the same files.
      const stream = await withEngineSetting("ENGINE_REPLIES", replies, () =>
        measureStream(options, corpus, clips),
      );
      options.log(JSON.stringify(stream));
      const images = order.slice(0, IMAGE_PHOTOS);
      options.log("images alone:");
      const matches = await countImageMatches(options, images);
      const shuffledSpace = join(folder, "shuffled.bin");
      await writeShuffledSpace(shuffledSpace);
      options.log("images alone, with shuffled vectors:");
      const shuffled = await withEngineSetting("JOINT_SPACE_FILE", shuffledSpace, () =>
        countImageMatches(options, images),
      );
      const kills = await countAnnouncements(options, corpus);
      const json = { ...stream, image_matches: matches, shuffled_image_matches: shuffled, kills };
      const tooSure = stream.bins.filter((bin) => bin.too_sure).length;
      const collapsed = matches > 0 && shuffled <= MAX_LEFT * matches;
      const problems = tooSure + Number(!collapsed) + kills.announced_twice + kills.not_announced;
      return {
        table: stream.bins.map(({ from, matches: count, stated, right, interval }) => {
          return { from, matches: count, stated, right, interval };
        }),
        json,
        problems,
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
