import { join } from "node:path";
import { JOINT_SPACE_FILE } from "../../local/engine/joint-space/space.ts";
import {
  applyLine,
  IDENTITY,
  type JudgedScore,
  logLoss,
  type LogOddsLine,
  selectLine,
} from "../../src/search/log-odds-line.ts";
import { measureQuality } from "../../src/search/quality.ts";
import { createRandom, drawNormal, type Random } from "../../src/search/random-numbers.ts";
import { binForecasts, calibrationError } from "../../src/search/reliability.ts";
import { loadPhotoVectors } from "../../tools/calibration/photo-vectors.ts";
import { round, type Suite } from "../../tools/suite.ts";
import type { CaptionedPhoto } from "../../tools/training/captions.ts";
import { captionSimilarity } from "../caption-similarity.ts";
import {
  type EmbeddedPhotos,
  embedPhotos,
  openPhotoArchive,
  shareFound,
  type SimulatedUser,
} from "../simulated-feedback.ts";

/** How scores differ from what people would judge: a line, and how far queries differ. */
interface World extends LogOddsLine {
  name: string;
  /** Standard deviation of the offset of a query. */
  queryDeviation: number;
}

const WORLDS: World[] = [
  { name: "right scores", slope: 1, offset: 0, queryDeviation: 0 },
  { name: "right scores, queries differ", slope: 1, offset: 0, queryDeviation: 0.7 },
  { name: "too low", slope: 1, offset: 1, queryDeviation: 0.5 },
  { name: "too high", slope: 1, offset: -0.8, queryDeviation: 0.5 },
  { name: "too extreme", slope: 0.6, offset: 0, queryDeviation: 0.5 },
  { name: "too cautious", slope: 1.5, offset: 0, queryDeviation: 0.5 },
  { name: "too high and too extreme", slope: 0.5, offset: -1, queryDeviation: 0.7 },
];
const COUNTS = [50, 100, 200, 400];
const SIMULATIONS = 150;
/** Photos of the searches that are refined. */
const PHOTOS = 400;
/** Judgments that stand for all that a world would give. */
const MANY = 40_000;
/** Nats that the mean log loss may rise by where the general calibration is right. */
const MAX_LOSS = 0.002;
/** Lowest share of targets that a refined search finds among new results. */
const MIN_FOUND = 0.6;
const NEW_ONLY = "new results only";
const COVERAGE = { low: 0.85, high: 0.95 };
/** Log odds of scores: mean and standard deviation. */
const SCORES = { mean: -0.7, deviation: 2.2 };
const MAX_PER_QUERY = 10;

/** Draws judgments of a world, of one to ten results a query. */
function drawJudgments(world: World, count: number, random: Random): JudgedScore[] {
  const judged: JudgedScore[] = [];
  for (let query = 0; judged.length < count; query++) {
    const { slope } = world;
    const offset = world.offset + world.queryDeviation * drawNormal(random);
    const size = Math.min(count - judged.length, 1 + Math.floor(random() * MAX_PER_QUERY));
    for (let i = 0; i < size; i++) {
      const logOdds = SCORES.mean + SCORES.deviation * drawNormal(random);
      const isRelevant = random() < applyLine({ slope, offset }, logOdds);
      judged.push({ logOdds, isRelevant, queryKey: `q${query}` });
    }
  }
  return judged;
}

const toJudgment = (one: JudgedScore) => ({ ...one, evidenceKind: null, calibrationTag: 0 });
const meanLoss = (judged: readonly JudgedScore[], line: LogOddsLine) =>
  judged.reduce((sum, one) => sum + logLoss(line, one), 0) / judged.length;

/** Returns the shares of simulations whose intervals contain the true figures of a world. */
function measureCoverage(world: World, count: number, all: readonly JudgedScore[]) {
  const found = all.map(({ logOdds, isRelevant }) => {
    return { score: applyLine(IDENTITY, logOdds), isRight: isRelevant };
  });
  const trueError = calibrationError(binForecasts(found));
  const high = found.filter(({ score }) => score >= 0.5);
  const truePrecision = high.filter(({ isRight }) => isRight).length / high.length;
  const covered = { precision: 0, error: 0 };
  for (let seed = 1; seed <= SIMULATIONS; seed++) {
    const judged = drawJudgments(world, count, createRandom(1000 * count + seed));
    const { precision, calibrationError: error } = measureQuality(judged.map(toJudgment));
    const atHalf = precision!.find(({ threshold }) => threshold === 0.5)!.interval;
    if (atHalf && atHalf.low <= truePrecision && truePrecision <= atHalf.high) covered.precision++;
    if (error!.low <= trueError + 1e-9 && trueError <= error!.high) covered.error++;
  }
  return {
    precision: covered.precision / SIMULATIONS,
    error: covered.error / SIMULATIONS,
    trueError,
  };
}

/** Fits lines to halves, and compares the loss of the general calibration on the other ones. */
function measureLines(world: World, count: number, all: readonly JudgedScore[]) {
  const generalLoss = meanLoss(all, IDENTITY);
  let [used, worse, gain] = [0, 0, 0];
  for (let seed = 1; seed <= SIMULATIONS; seed++) {
    const half = drawJudgments(world, count, createRandom(7_000_000 + 1000 * count + seed));
    const line = selectLine(half);
    if (!line) continue;
    const difference = generalLoss - meanLoss(all, line);
    used++;
    gain += difference;
    if (difference < 0) worse++;
  }
  return { used: used / SIMULATIONS, worse: worse / SIMULATIONS, gain: gain / SIMULATIONS };
}

/**
 * Refines searches of photos, with a description each and without: as a user judges who compares
 * captions, one who compares as the image model does, and one who only reads on.
 */
async function measureRefined(photos: readonly CaptionedPhoto[], embedded: EmbeddedPhotos) {
  const byCaptions = captionSimilarity(photos);
  const byModel = (one: number, other: number) => {
    const [a, b] = [embedded.images[one]!, embedded.images[other]!];
    return Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0);
  };
  const users: Record<string, SimulatedUser> = {
    "all results again": { similarity: byCaptions, skipsRead: false },
    [NEW_ONLY]: { similarity: byCaptions, skipsRead: true },
    "new results, nothing judged": { similarity: null, skipsRead: true },
    "all again, judged by the model": { similarity: byModel, skipsRead: false },
    "new only, judged by the model": { similarity: byModel, skipsRead: true },
  };
  const rows = [];
  for (const described of [false, true]) {
    const archive = await openPhotoArchive(photos, embedded, described);
    for (const [name, user] of Object.entries(users)) {
      rows.push({ user: name, described, ...(await shareFound(archive, user)) });
    }
  }
  return rows;
}

export const suite: Suite = {
  summary: "coverage of intervals, own calibration on held-out halves, refined searches of photos",
  async run({ dataDir, log, signal }) {
    const rows = WORLDS.flatMap((world, at) => {
      log(`${world.name} …`);
      const all = drawJudgments(world, MANY, createRandom(at + 1));
      return COUNTS.map((count) => {
        const coverage = measureCoverage(world, count, all);
        const lines = measureLines(world, count, all);
        log(`  ${count}: ${JSON.stringify({ ...coverage, ...lines })}`);
        return Object.assign({ scores: world.name, judgments: count }, coverage, lines);
      });
    });
    const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
    const coverage = {
      precision: mean(rows.map(({ precision }) => precision)),
      error: mean(rows.map(({ error }) => error)),
    };
    const isCovered = (share: number) => share >= COVERAGE.low && share <= COVERAGE.high;
    const worstGain = Math.min(...rows.map(({ gain }) => gain));
    const vectors = await loadPhotoVectors([join(dataDir, "photos")], JOINT_SPACE_FILE, log);
    const photos = vectors.photos.slice(0, PHOTOS);
    log(`${photos.length} photos …`);
    const embedded = await embedPhotos(vectors, photos, signal);
    const refined = await measureRefined(photos, embedded);
    for (const row of refined) log(`  ${JSON.stringify(row)}`);
    const failures = [
      !isCovered(coverage.precision),
      !isCovered(coverage.error),
      worstGain < -MAX_LOSS,
      refined.some(({ user, share }) => user === NEW_ONLY && share < MIN_FOUND),
    ];
    return {
      table: rows.map((row) => ({
        scores: row.scores,
        judgments: row.judgments,
        "precision covered": round(row.precision),
        "error covered": round(row.error),
        "own used": round(row.used),
        "own worse": round(row.worse, 3),
        "gain in log loss": round(row.gain, 4),
      })),
      json: { coverage, worst_gain: worstGain, refined, rows },
      problems: failures.filter(Boolean).length,
    };
  },
};
