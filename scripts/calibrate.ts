import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Service, withService } from "../bench/service.ts";
import { round } from "../bench/suite.ts";
import { MODELS } from "../src/config.ts";
import type { Fitted } from "../src/search/fuse.ts";
import { layOutCorpus } from "./calibration/corpus.ts";
import { type Example, fitReasons } from "./calibration/fit.ts";
import { type Observed, observe } from "./calibration/observe.ts";
import { observePictures } from "./calibration/pictures.ts";
import { describePhotos, loadPassages } from "./calibration/described.ts";
import { askAbout } from "./calibration/questions.ts";
import { BLIND_LIKENESS, HOLDS, LIKENESS, LOOKS, RESEMBLES } from "./calibration/shape.ts";
import { type CaptionedPhoto, readCaptionedPhotos } from "./picture-space/captions.ts";
import { createRandom, shuffle } from "./picture-space/random.ts";
import { Leash, startChild } from "./stack/child.ts";
import { onInterrupt } from "./stack/interrupt.ts";
import { PROJECT } from "./stack/local-state.ts";

const USAGE = `Usage: npm run calibrate -- [options]

Fits how search signals become probabilities (src/search/calibrations.json) for the offline engine's
models, on photos of <DIR>/photos-train laid out as an archive of images, films and pages. So that the
picture space hasn't seen them, it is trained without them first (20 minutes, kept in
.wrangler/calibration); all of it takes about 40 minutes. \`npm run eval -- search\` measures the result.

  --data DIR       where the photos are (default ../shared/data)
  --photos N       how many are laid out (default 500)
  --refit          ask nothing: fit again what was observed last (scripts/calibration/shape.ts was changed)
  --questions N    how many are asked in words; a sixth as many are pictures (default 1600)
  --help           show this
`;

const FILE = join(PROJECT, "src/search/calibrations.json");
const SPACE = join(PROJECT, ".wrangler/calibration/space.bin");
const SEED = 1;
const OBSERVED = join(PROJECT, ".wrangler/calibration/observed.json");
/** Photos that the picture space is trained without: the first of the shuffled ones. */
const HELD_OUT = 1091;
/** Photos that are told, not shown. */
const DESCRIBED = 1200;
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
    await keep(JSON.parse(await readFile(OBSERVED, "utf8")));
    return;
  }
  const data = resolve(values.data);
  const photoCount = readCount("photos", values.photos, HELD_OUT);
  const questionCount = readCount("questions", values.questions, 100_000);
  const signal = onInterrupt();
  if (!existsSync(SPACE)) await trainWithout(data);
  process.env["PICTURE_SPACE_FILE"] = SPACE;

  const all = await readCaptionedPhotos(join(data, "photos-train"));
  const photos = shuffle(all.length, createRandom(SEED))
    .slice(0, photoCount)
    .map((at) => all[at]!);
  const folder = await mkdtemp(join(tmpdir(), "sightline-calibration-"));
  try {
    const corpus = await layOutCorpus(folder, photos);
    const observed = await withService(
      { log, signal },
      async (service) => {
        const { api } = service;
        const blind = await observeBlind(service, all, questionCount);
        await service.ingest("corpus", corpus.files);
        const questions = askAbout(corpus, questionCount, createRandom(SEED));
        log(`${questions.length} questions …`);
        const asked = Math.round(questionCount / 6);
        return {
          words: await observe(api, "corpus", corpus, questions),
          pictures: await observePictures(api, "corpus", corpus, photos, asked, createRandom(SEED)),
          blind,
        };
      },
      LOADING_WORKER,
    );
    await writeFile(OBSERVED, JSON.stringify(observed));
    await keep(observed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Asks about scenes that people described, as a deployment without a picture space would. */
async function observeBlind(
  service: Service,
  photos: CaptionedPhoto[],
  count: number,
): Promise<Observed[]> {
  const order = shuffle(photos.length, createRandom(SEED)).slice(0, DESCRIBED);
  const some = order.map((at) => photos[at]!);
  const corpus = describePhotos(some, createRandom(SEED));
  await service.api.post("/index", { index_name: "described" });
  log(`${corpus.passages.length} scenes that people described …`);
  await loadPassages(service, "described", corpus.passages);
  const questions = askAbout(corpus.asked, count, createRandom(SEED));
  log(`${questions.length} questions …`);
  return observe(service.api, "described", corpus, questions, "?pictures=no");
}

/** Trains in a process of its own, which holds much memory. */
async function trainWithout(data: string): Promise<void> {
  log(`Training a picture space without ${HELD_OUT} photos …`);
  await mkdir(dirname(SPACE), { recursive: true });
  const leash = new Leash();
  const options = ["--data", data, "--seed", `${SEED}`, "--hold-out", `${HELD_OUT}`];
  const child = leash.hold(
    startChild({
      name: "The training",
      args: ["scripts/train-picture-space.ts", ...options, "--out", SPACE],
      env: {},
      logFile: join(PROJECT, ".wrangler/calibration/training.log"),
    }),
  );
  const why = await child.ended;
  if (!child.succeeded()) throw new Error(why);
}

/** What questions in words brought, what pictures did, and words without a picture space. */
interface Answers {
  words: Observed[];
  pictures: Observed[];
  blind: Observed[];
}

/** Writes the fits in place of older ones for the same models. */
async function keep({ words, pictures, blind }: Answers): Promise<void> {
  const hits = (observed: Observed[]) => observed.flatMap((one) => one.hits);
  const examples = [...words, ...blind].flatMap(weigh);
  const [holds, resembles, looks] = fitReasons(examples, [HOLDS, RESEMBLES, LOOKS]);
  const tells = [holds, resembles];
  const [likeness] = fitReasons(hits(pictures), [LIKENESS]);
  const [blindLikeness] = fitReasons(hits(pictures), [BLIND_LIKENESS]);
  const text = MODELS.embedText.id;
  const own = [
    { models: { text, picture: "" }, tells, looks, likeness },
    { models: { text, picture: null }, tells, looks: null, likeness: blindLikeness },
  ];
  const known: Fitted[] = JSON.parse(await readFile(FILE, "utf8"));
  const others = known.filter(({ models }) => {
    return !own.some(
      (one) => one.models.text === models.text && one.models.picture === models.picture,
    );
  });
  await writeFile(FILE, `${JSON.stringify([...own, ...others], toDigits, 2)}\n`);
  const counts = [words, blind, pictures].map((some) => hits(some).length);
  log(`${FILE}: ${counts.join(", ")} hits in words, in words without pictures, of pictures.`);
}

/** So that a question with a hundred right answers doesn't outvote a hundred with one. */
function weigh({ hits }: Observed): Example[] {
  const right = hits.filter(({ isRight }) => isRight).length;
  const weight = 1 / Math.sqrt(Math.max(1, right));
  return hits.map(({ signals, isRight }) => ({ signals, isRight, weight }));
}

/** Three digits are more than the data has. */
function toDigits(_: string, value: unknown): unknown {
  return typeof value === "number" ? round(value, 3) : value;
}

function readCount(name: string, text: string, most: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= most) return count;
  throw new Error(`--${name} is a whole number from 1 to ${most}, not "${text}".`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
