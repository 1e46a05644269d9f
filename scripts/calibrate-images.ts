import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  CALIBRATIONS_FILE,
  readCalibrations,
  storeCalibrations,
} from "../tools/calibration/calibrations-file.ts";
import { refitImages } from "../tools/calibration/entries.ts";
import { loadPhotoVectors } from "../tools/calibration/photo-vectors.ts";
import type { ArchiveContents } from "../tools/calibration/sized-archive.ts";
import { judgeSizes } from "../tools/memory-search/judge-archive.ts";
import { createRandom } from "../tools/random-numbers.ts";
import { onInterrupt } from "../tools/stack/interrupt.ts";
import { PROJECT } from "../tools/stack/local-state.ts";
import { shuffle } from "../tools/training/random.ts";

const USAGE = `Usage: node scripts/calibrate-images.ts --space FILE [options]

The last step of \`npm run calibrate-engine\`: fits what image vectors say, beside text and alone, to
archives in memory of 100 to 30,000 segments, and stores it in src/search/calibrations.json.

  --space FILE     weights of a joint space that was trained without some photos
  --hold-out N     number of these photos (default 1091)
  --seed N         seed of the training (default 1)
  --data DIR       folder with photos-train (default ../shared/data)
  --help           print this help
`;

const FILE = join(PROJECT, CALIBRATIONS_FILE);
const SIZES = [100, 1_000, 5_800, 30_000];
/** Share of the photos that are asked for without being in an archive. */
const ABSENT_SHARE = 0.2;

const log = (line: string) => console.error(line);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      space: { type: "string" },
      "hold-out": { type: "string", default: "1091" },
      seed: { type: "string", default: "1" },
      data: { type: "string", default: join(PROJECT, "../shared/data") },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || values.space === undefined) {
    (values.help ? console.log : console.error)(USAGE);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const signal = onInterrupt();
  const folder = join(resolve(values.data), "photos-train");
  const vectors = await loadPhotoVectors([folder], resolve(values.space), log);
  const captions = vectors.photos.map((photo) => photo.captions);
  // The order of the training, which left the first ones out.
  const order = shuffle(captions.length, createRandom(Number(values.seed)));
  const unmet = order.slice(0, Number(values["hold-out"]));
  const absentCount = Math.floor(unmet.length * ABSENT_SHARE);
  const photos = {
    captions,
    absent: unmet.slice(0, absentCount),
    targets: unmet.slice(absentCount),
    others: order.slice(unmet.length),
  };
  const judge = (contents: ArchiveContents) =>
    judgeSizes(photos, vectors, contents, { sizes: SIZES, log, signal });
  const withText = [...(await judge("both")), ...(await judge("mixed"))];
  const alone = await judge("images");
  const [entry] = await readCalibrations(FILE);
  await storeCalibrations(FILE, [refitImages(entry!, withText, alone)]);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
