import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SENTENCE_MODEL } from "../local/engine/sentences.ts";
import {
  CALIBRATIONS_FILE,
  readCalibrations,
  storeCalibrations,
} from "../tools/calibration/calibrations-file.ts";
import { fitTextCurve, refitLabels } from "../tools/calibration/entries.ts";
import { loadPhotoTexts } from "../tools/calibration/photo-vectors.ts";
import type { ArchiveContents, QueryWords } from "../tools/calibration/sized-archive.ts";
import { judgeSizes } from "../tools/memory-search/judge-archive.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { shuffle } from "../tools/training/random.ts";

const USAGE = `Usage: node scripts/calibrate-archives.ts [options]

The last step of \`npm run calibrate-engine\`: fits, to archives in memory, a curve that corrects
what text says, and what a label says that the engine's detector finds in an image without a
caption, beside text and alone. Stores both in src/search/calibrations.json. The archives have no
image vectors, so that nothing else tells what an image shows.

  --photos N       number of photos (default 1500)
  --data DIR       folder with photos-train (default ../shared/data)
  --help           print this help
`;

const FILE = join(PROJECT, CALIBRATIONS_FILE);
const SEED = 1;
const TEXT_SIZES = [100, 1_000, 10_000];
/** What a label says doesn't depend on the number of segments. */
const LABEL_SIZES = [100, 1_000];
/** Shares of the photos that are asked for, and of those that are asked for without being there. */
const SHARES = { targets: 0.6, absent: 0.1 };

const log = (line: string) => console.error(line);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      photos: { type: "string", default: "1500" },
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const signal = onInterrupt();
  const limit = Number(values.photos);
  const texts = await loadPhotoTexts(join(resolve(values.data), "photos-train"), limit, log);
  const captions = texts.photos.map((photo) => photo.captions);
  const order = shuffle(captions.length, createRandom(SEED));
  const [absentCount, targetCount] = [SHARES.absent, SHARES.targets].map((share) =>
    Math.floor(share * order.length),
  ) as [number, number];
  const photos = {
    captions,
    labelsOf: texts.labelsOf,
    absent: order.slice(0, absentCount),
    targets: order.slice(absentCount, absentCount + targetCount),
    others: order.slice(absentCount + targetCount),
  };
  const judge = (contents: ArchiveContents, sizes: readonly number[], words?: QueryWords) =>
    judgeSizes(photos, texts, contents, { sizes, words, log, signal });
  const withLabels = await judge("labelled mixed", LABEL_SIZES);
  const text = [
    ...(await judge("text", TEXT_SIZES)),
    ...(await judge("text", TEXT_SIZES, "any")),
    ...withLabels,
    ...(await judge("labelled mixed", LABEL_SIZES, "any")),
  ];
  const labelsAlone = await judge("labelled images", LABEL_SIZES);
  const entries = await readCalibrations(FILE);
  for (const entry of entries) {
    if (entry.models.text === SENTENCE_MODEL) entry.textCurve = fitTextCurve(entry.text, text);
  }
  const [first, ...others] = entries;
  await storeCalibrations(FILE, [refitLabels(first!, withLabels, labelsAlone), ...others]);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
