import {
  COUNT_MODEL,
  nearLogOdds,
  unfoundLogOdds,
} from "../../src/search/aggregate/count-model.ts";
import { type CountInput, simulateCounts } from "../../src/search/aggregate/simulate-counts.ts";
import { toLogOdds, toProbability } from "../../src/search/log-odds-line.ts";
import { createRandom, drawNormal, type Random } from "../../src/search/random-numbers.ts";
import { round } from "../../tools/suite.ts";

/** The shape of an archive: assets with found segments, found and unfound ones of each, others. */
const SHAPES = [
  { name: "one long video", assets: 1, found: 40, unfound: 60, others: 0, countsAssets: false },
  { name: "images", assets: 60, found: 1, unfound: 0, others: 400, countsAssets: false },
  { name: "videos", assets: 20, found: 6, unfound: 14, others: 1000, countsAssets: false },
  { name: "assets of videos", assets: 20, found: 6, unfound: 14, others: 50, countsAssets: true },
] as const;
type Shape = (typeof SHAPES)[number];

const QUERIES = 200;
/** Segments of an asset without a found one. */
const SEGMENTS = 20;
/** Log odds of the excesses of found segments. */
const EXCESS = { mean: -1.5, deviation: 2.5 };

function drawInput(shape: Shape, random: Random): CountInput {
  const { assets, found, unfound, others, countsAssets } = shape;
  let mass = 0;
  const drawn = Array.from({ length: assets }, () => ({
    segments: Array.from({ length: found }, () => {
      const excess = toProbability(EXCESS.mean + EXCESS.deviation * drawNormal(random));
      mass += excess;
      return { excess, multiplicity: 1, weight: 1, groups: [1] };
    }),
    unfound: { count: unfound, weight: 1, groups: [1] },
  }));
  const items = { count: others, weight: 1, segments: countsAssets ? SEGMENTS : 1 };
  return {
    countsAssets,
    mass,
    total: assets * (found + unfound) + others * items.segments,
    hasText: true,
    found: drawn,
    unfound: [{ count: 0, weight: 1, segments: 1 }, items],
    other: 0,
  };
}

/** Draws which segments are relevant as the model says, apart from the code that estimates. */
function drawTruth(input: CountInput, random: Random): number {
  const { hit, unfound, correlation, assetDeviation } = COUNT_MODEL;
  const ofQuery = drawNormal(random);
  const rest = Math.sqrt(1 - correlation ** 2) * drawNormal(random);
  const mean = unfoundLogOdds(COUNT_MODEL, input);
  const base = mean + unfound.deviation * (correlation * ofQuery + rest);
  const near = base + nearLogOdds(COUNT_MODEL, input);
  const happens = (logOdds: number) => random() < toProbability(logOdds);
  const count = (times: number, logOdds: number) =>
    Array.from({ length: times }, () => happens(logOdds)).filter(Boolean).length;
  let truth = 0;
  for (const { segments, unfound: others } of input.found) {
    const ofAsset = assetDeviation * drawNormal(random);
    const relevant = segments.filter(({ excess }) => {
      const logOdds =
        hit.offset + hit.slope * toLogOdds(excess) + hit.deviation * ofQuery + ofAsset;
      const [isHit, isNear] = [happens(logOdds), happens(near + ofAsset)];
      return isHit || isNear;
    }).length;
    const all = relevant + count(others.count, base + ofAsset);
    truth += input.countsAssets ? Number(all > 0) : all;
  }
  for (const { count: items, segments } of input.unfound) {
    for (let item = 0; item < items; item++) truth += Math.sign(count(segments, base));
  }
  return truth;
}

/** Returns how often the intervals of drawn archives contain the drawn numbers, by shape. */
export async function simulateWorlds(log: (line: string) => void) {
  const rows = [];
  for (const shape of SHAPES) {
    const random = createRandom(1);
    let covered = 0;
    for (let query = 0; query < QUERIES; query++) {
      const input = drawInput(shape, random);
      const truth = drawTruth(input, random);
      const [, all] = await simulateCounts(input, COUNT_MODEL, () => Promise.resolve());
      const [low, high] = all!.interval;
      if (low <= truth && truth <= high) covered++;
    }
    rows.push({ archive: shape.name, queries: QUERIES, covered: round(covered / QUERIES, 3) });
    log(JSON.stringify(rows.at(-1)));
  }
  return rows;
}
