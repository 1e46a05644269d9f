import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Sightline } from "sightline";
import { CALIBRATIONS_FILE, storeCalibrations } from "../tools/calibration/calibrations-file.ts";
import { collectExamples } from "../tools/calibration/collect-examples.ts";
import { writeCorpus } from "../tools/calibration/corpus.ts";
import { type CalibrationQueries, fitCalibrationEntries } from "../tools/calibration/entries.ts";
import { collectImageExamples } from "../tools/calibration/image-examples.ts";
import type { JudgedQuery } from "../tools/calibration/judgments.ts";
import { sampleQueries } from "../tools/calibration/questions.ts";
import { createSceneCorpus } from "../tools/calibration/scene-corpus.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { encodeBatch, type SegmentFields, VIDEO_SEGMENTS } from "../tools/segment-batch.ts";
import { type Service, withService } from "../tools/service.ts";
import { ProcessSupervisor, startChild } from "../tools/stack/child.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "../tools/training/captions.ts";
import { shuffle } from "../tools/training/random.ts";

const USAGE = `Usage: npm run calibrate-engine -- [options]

Fits how search signals become probabilities (src/search/calibrations.json) for the offline engine's
models, on photos of <DIR>/photos-train arranged as an archive of images, videos and pages. First
trains a joint embedding space without these photos (20 minutes, cached in .wrangler/calibration).
The whole run takes about 40 minutes. \`npm run eval -- search\` measures the result.

  --data DIR       folder with photos-train (default ../shared/data)
  --photos N       photos in the archive (default 500)
  --refit          fit the stored results of the last run again: after a change of
                   tools/calibration/model-shapes.ts
  --questions N    text queries; a sixth as many image queries (default 1600)
  --help           print this help
`;

const FILE = join(PROJECT, CALIBRATIONS_FILE);
const SPACE_FILE = join(PROJECT, ".wrangler/calibration/space.bin");
const SEED = 1;
const QUERIES_FILE = join(PROJECT, ".wrangler/calibration/judged-queries.json");
/** Photos that the joint space is trained without: the first of the shuffled ones. */
const EXCLUDED_PHOTOS = 1091;
/** Options of the joint space's training, which say without which photos it is. */
const TRAINING = ["--seed", `${SEED}`, "--hold-out", `${EXCLUDED_PHOTOS}`];
/** Photos that become scenes described in text. */
const DESCRIBED_PHOTOS = 1200;
const LOADING_WORKER = "bench/search/loading-worker.ts";

const log = (line: string) => console.error(line);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      photos: { type: "string", default: "500" },
      questions: { type: "string", default: "1600" },
      refit: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  if (values.refit) {
    await storeEntries(JSON.parse(await readFile(QUERIES_FILE, "utf8")));
    await calibrateArchives(resolve(values.data));
    return;
  }
  const data = resolve(values.data);
  const photoCount = readCount("photos", values.photos, EXCLUDED_PHOTOS);
  const questionCount = readCount("questions", values.questions, 100_000);
  const signal = onInterrupt();
  if (!existsSync(SPACE_FILE)) await trainJointSpace(data);
  process.env["JOINT_SPACE_FILE"] = SPACE_FILE;

  const all = await readCaptionedPhotos(join(data, "photos-train"));
  const photos = shuffle(all.length, createRandom(SEED))
    .slice(0, photoCount)
    .map((at) => all[at]!);
  const folder = await mkdtemp(join(tmpdir(), "sightline-calibration-"));
  try {
    const corpus = await writeCorpus(folder, photos);
    const queries = await withService(
      { log, signal },
      async (service) => {
        const index = service.sightline.index("corpus");
        const textWithoutImages = await judgeWithoutImages(service, all, questionCount);
        await service.ingest("corpus", corpus.files);
        const questions = sampleQueries(corpus, questionCount, createRandom(SEED));
        log(`${questions.length} questions …`);
        const imageQueryCount = Math.round(questionCount / 6);
        return {
          text: await collectExamples(index, corpus, questions),
          images: await collectImageExamples(
            index,
            corpus,
            photos,
            imageQueryCount,
            createRandom(SEED),
          ),
          textWithoutImages,
        };
      },
      { entry: LOADING_WORKER },
    );
    await writeFile(QUERIES_FILE, JSON.stringify(queries));
    await storeEntries(queries);
    await calibrateArchives(data);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Judges text queries about scenes described in text, without image embeddings. */
async function judgeWithoutImages(
  service: Service,
  photos: CaptionedPhoto[],
  count: number,
): Promise<JudgedQuery[]> {
  const order = shuffle(photos.length, createRandom(SEED)).slice(0, DESCRIBED_PHOTOS);
  const describedPhotos = order.map((at) => photos[at]!);
  const corpus = createSceneCorpus(describedPhotos, createRandom(SEED));
  await service.sightline.indices.create({ index_name: "described" });
  log(`${corpus.segments.length} described scenes …`);
  await loadSegments(service, "described", corpus.segments);
  const questions = sampleQueries(corpus.queryCorpus, count, createRandom(SEED));
  log(`${questions.length} questions …`);
  const index = withoutImages(service).index("described");
  return collectExamples(index, corpus, questions);
}

/** Stores the segments in an index as ingest does, without analysis of media. */
async function loadSegments(
  { url, account }: Pick<Service, "url" | "account">,
  indexName: string,
  segments: readonly SegmentFields[],
): Promise<void> {
  const none = new Float32Array();
  for (let at = 0; at < segments.length; at += VIDEO_SEGMENTS) {
    const batch = segments.slice(at, at + VIDEO_SEGMENTS);
    const response = await fetch(`${url}/load?account=${account}&index=${indexName}&embed=yes`, {
      method: "POST",
      body: encodeBatch({ segments: batch, textVectors: none, imageVectors: none }),
    });
    if (!response.ok) throw new Error(`/load: ${response.status} ${await response.text()}`);
  }
}

/** Returns a client whose searches the Worker answers as without image embeddings. */
function withoutImages({ url, key }: Service): Sightline {
  return new Sightline({
    url,
    apiKey: key,
    maxRetries: 0,
    fetch: (address, init) => {
      const withParameter = new URL(address);
      withParameter.searchParams.set("images", "no");
      return fetch(withParameter, init);
    },
  });
}

function trainJointSpace(data: string): Promise<void> {
  log(`Training a joint space without ${EXCLUDED_PHOTOS} photos …`);
  return runScript("train-joint-space", data, [...TRAINING, "--out", SPACE_FILE]);
}

async function calibrateArchives(data: string): Promise<void> {
  log("Fitting images to archives of different sizes …");
  await runScript("calibrate-images", data, [...TRAINING, "--space", SPACE_FILE]);
  log("Fitting the curve of text and labels …");
  await runScript("calibrate-archives", data, []);
}

/** Runs a script that needs much memory in a process of its own. Its output goes to a log file. */
async function runScript(name: string, data: string, args: string[]): Promise<void> {
  await mkdir(dirname(SPACE_FILE), { recursive: true });
  const supervisor = new ProcessSupervisor();
  const child = supervisor.supervise(
    startChild({
      name,
      args: [`scripts/${name}.ts`, "--data", data, ...args],
      env: {},
      logFile: join(dirname(SPACE_FILE), `${name}.log`),
    }),
  );
  const reason = await child.ended;
  if (!child.succeeded()) throw new Error(reason);
}

/** Fits the entries and replaces older ones of the same models. */
async function storeEntries(queries: CalibrationQueries): Promise<void> {
  await storeCalibrations(FILE, fitCalibrationEntries(queries));
  const { text, textWithoutImages, images } = queries;
  const [textCount, withoutImagesCount, imageCount] = [text, textWithoutImages, images].map(
    (judged) => judged.reduce((sum, { hits }) => sum + hits.length, 0),
  );
  log(
    `${FILE}: ${textCount} hits of text queries, ${withoutImagesCount} of text queries without ` +
      `image embeddings, ${imageCount} of image queries.`,
  );
}

function readCount(name: string, text: string, max: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= max) return count;
  throw new Error(`--${name} is a whole number from 1 to ${max}, not "${text}".`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
