import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "../src/search/random-numbers.ts";
import {
  CALIBRATIONS_FILE,
  readCalibrations,
  storeCalibrations,
} from "../tools/calibration/calibrations-file.ts";
import { collectExamples } from "../tools/calibration/collect-examples.ts";
import { writeCorpus } from "../tools/calibration/corpus.ts";
import { refitLabels } from "../tools/calibration/entries.ts";
import type { JudgedQuery } from "../tools/calibration/judgments.ts";
import { sampleQueries } from "../tools/calibration/questions.ts";
import { withService } from "../tools/service.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { readCaptionedPhotos } from "../tools/training/captions.ts";
import { shuffle } from "../tools/training/random.ts";

const USAGE = `Usage: node scripts/calibrate-labels.ts --space FILE [options]

The last step of \`npm run calibrate-engine\`: fits what detected labels say, beside images and text
and among photos alone, and stores it in src/search/calibrations.json.

  --space FILE     weights of a joint space that was trained without some photos
  --hold-out N     number of these photos (default 1091)
  --seed N         seed of the training (default 1)
  --questions N    text queries of each archive (default 800)
  --data DIR       folder with photos-train (default ../shared/data)
  --examples FILE  keep the judged hits here, and fit them again if they are there
  --help           print this help
`;

const FILE = join(PROJECT, CALIBRATIONS_FILE);
/** Photos of the archive. */
const PHOTOS = 500;

/** Judged queries of an archive of all kinds, and of its photos alone. */
interface Examples {
  all: JudgedQuery[];
  photos: JudgedQuery[];
}

const log = (line: string) => console.error(line);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      space: { type: "string" },
      "hold-out": { type: "string", default: "1091" },
      seed: { type: "string", default: "1" },
      questions: { type: "string", default: "800" },
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      examples: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || values.space === undefined) {
    (values.help ? console.log : console.error)(USAGE);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  process.env["JOINT_SPACE_FILE"] = resolve(values.space);
  const all = await readCaptionedPhotos(join(resolve(values.data), "photos-train"));
  // The order of the training, which left the first ones out.
  const photos = shuffle(all.length, createRandom(Number(values.seed)))
    .slice(0, Math.min(PHOTOS, Number(values["hold-out"])))
    .map((at) => all[at]!);
  const folder = await mkdtemp(join(tmpdir(), "sightline-calibration-"));
  try {
    const corpus = await writeCorpus(folder, photos);
    const isPhoto = ({ path }: { path: string }) => photos.some((photo) => photo.path === path);
    const questions = sampleQueries(
      corpus,
      Number(values.questions),
      createRandom(Number(values.seed)),
    );
    const collect = () =>
      withService({ log, signal: onInterrupt() }, async (service): Promise<Examples> => {
        await service.ingest("corpus", corpus.files);
        await service.ingest("photos", corpus.files.filter(isPhoto));
        log(`${questions.length} questions …`);
        const { sightline } = service;
        return {
          all: await collectExamples(sightline.index("corpus"), corpus, questions),
          photos: await collectExamples(sightline.index("photos"), corpus, questions),
        };
      });
    const examples = await keepExamples(values.examples, collect);
    const [entry] = await readCalibrations(FILE);
    await storeCalibrations(FILE, [refitLabels(entry!, examples.all, examples.photos)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads examples from a file, or collects them and writes it. */
async function keepExamples(
  file: string | undefined,
  collect: () => Promise<Examples>,
): Promise<Examples> {
  if (file === undefined) return collect();
  if (existsSync(file)) return JSON.parse(await readFile(file, "utf8"));
  const examples = await collect();
  await writeFile(file, JSON.stringify(examples));
  return examples;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
