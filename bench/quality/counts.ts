import { join } from "node:path";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import { createRandom } from "../../src/search/random-numbers.ts";
import { loadPhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import { ARCHIVE_CONTENTS } from "../../tools/calibration/sized-archive.ts";
import { round, type Suite } from "../../tools/suite.ts";
import { shuffle } from "../../tools/training/random.ts";
import { countArchive, type CountOutcome, GROUPINGS } from "../search/counted-archives.ts";
import { simulateWorlds } from "../search/simulated-counts.ts";

/** Photos that are asked for without being in an archive. */
const ABSENT = 150;
/** Archives of a size, and queries of each. */
const ARCHIVES = [
  { size: 60, archives: 2, queries: 12 },
  { size: 300, archives: 1, queries: 24 },
  { size: 850, archives: 1, queries: 20 },
];
/** Coverage that intervals of 90 % may have. */
const COVERAGE = { low: 0.86, high: 0.94 };
/** Lowest expected number of groups that count: of less, hardly any interval could miss. */
const MIN_EXPECTED = 1;

function summarize(outcomes: readonly CountOutcome[]) {
  const counted = outcomes.filter(({ count }) => count >= MIN_EXPECTED);
  const isCovered = ({ truth, interval: [low, high] }: CountOutcome) =>
    truth >= low - 1e-6 && truth <= high + 1e-6;
  const share = (some: readonly CountOutcome[], test: (one: CountOutcome) => boolean) =>
    some.length === 0 ? 0 : some.filter(test).length / some.length;
  const sum = (some: readonly CountOutcome[], of: (one: CountOutcome) => number) =>
    some.reduce((total, one) => total + of(one), 0);
  return {
    numbers: outcomes.length,
    at_least_one: counted.length,
    covered: round(share(counted, isCovered), 3),
    below: round(
      share(counted, ({ truth, interval }) => truth < interval[0] - 1e-6),
      3,
    ),
    above: round(
      share(counted, ({ truth, interval }) => truth > interval[1] + 1e-6),
      3,
    ),
    covered_of_all: round(share(outcomes, isCovered), 3),
    expected_by_true: round(
      sum(outcomes, ({ count }) => count) / sum(outcomes, ({ truth }) => truth),
    ),
    mean_width: round(sum(counted, ({ interval: [low, high] }) => high - low) / counted.length),
    mean_true: round(sum(counted, ({ truth }) => truth) / counted.length),
  };
}

export const suite: Suite = {
  summary: "coverage of intervals of counts: archives of photos that nothing was fitted on",
  async run({ dataDir, log, signal }) {
    const folders = ["photos", "photos-train"].map((name) => join(dataDir, name));
    const vectors = await loadPhotoVectors(folders, JOINT_SPACE_FILE, log);
    const captions = vectors.photos.map((photo) => photo.captions);
    const known = shuffle(vectors.starts[1]!, createRandom(1));
    const outcomes: CountOutcome[] = [];
    for (const contents of ARCHIVE_CONTENTS) {
      for (const { size, archives, queries } of ARCHIVES) {
        for (let seed = 1; seed <= archives; seed++) {
          const random = createRandom(size + seed);
          const order = shuffle(known.length - ABSENT, random).map((at) => known[ABSENT + at]!);
          const half = Math.floor(Math.min(size, order.length) / 2);
          const photos = {
            captions,
            targets: order.slice(0, half),
            others: order.slice(half),
            absent: known.slice(0, ABSENT),
          };
          const archive = { contents, size, queries, photos };
          outcomes.push(...(await countArchive(archive, vectors, random, signal)));
        }
        const { covered, at_least_one: numbers } = summarize(outcomes);
        log(`${contents}, ${size} segments: ${numbers} numbers so far, ${covered} covered`);
      }
    }
    const simulated = await simulateWorlds(log);
    const rows = GROUPINGS.flatMap(({ name, unit }) =>
      (["total", "group"] as const).map((level) => {
        const some = outcomes.filter((one) => one.name === name && one.level === level);
        return Object.assign({ counted: name, unit, of: level }, summarize(some));
      }),
    );
    const byContents = ARCHIVE_CONTENTS.map((contents) =>
      Object.assign({ contents }, summarize(outcomes.filter((one) => one.contents === contents))),
    );
    const bySize = ARCHIVES.map(({ size }) =>
      Object.assign({ segments: size }, summarize(outcomes.filter((one) => one.size === size))),
    );
    const totals = summarize(outcomes.filter(({ level }) => level === "total"));
    const groups = summarize(outcomes.filter(({ level }) => level === "group"));
    const all = [totals, groups, ...simulated.map(({ covered }) => ({ covered }))];
    const problems = all.filter(
      ({ covered }) => covered < COVERAGE.low || covered > COVERAGE.high,
    ).length;
    return {
      table: rows.map(({ counted, unit, of, at_least_one, covered, below, above, mean_width }) => {
        return { counted, unit, of, numbers: at_least_one, covered, below, above, mean_width };
      }),
      json: { totals, groups, rows, by_contents: byContents, by_size: bySize, simulated },
      problems,
    };
  },
};
