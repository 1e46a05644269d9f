import type { Asset, Hit, SightlineIndex } from "sightline";
import { createRandom } from "../random-numbers.ts";
import { shuffle } from "../training/random.ts";
import type { Corpus, GroundTruth, JudgedQuery } from "./judgments.ts";
import { createJudge, type EvalQuery, type Judgment } from "./questions.ts";

const DEPTH = 100;
/** Numbers of assets that queries are restricted to, in turn: archives differ in size. */
const ASSET_COUNTS = [8, 25, 80, Infinity];

/**
 * Runs the queries one after another, each on a part of the corpus that contains its target, if
 * there is one. Near-duplicates are not collapsed: the judge accepts each of them.
 */
export async function collectExamples(
  index: SightlineIndex,
  corpus: Corpus,
  questions: readonly EvalQuery[],
): Promise<JudgedQuery[]> {
  const judge = createJudge(corpus.truths);
  const assets: Asset[] = [];
  for await (const asset of index.assets({ limit: 100 })) assets.push(asset);
  const random = createRandom(2);
  const judged: JudgedQuery[] = [];
  for (const [i, question] of questions.entries()) {
    const size = ASSET_COUNTS[Math.floor(i / ASSET_COUNTS.length) % ASSET_COUNTS.length]!;
    const { relevant, unknown } = judge(question);
    const target = relevant.find(({ captions }) => captions.includes(question.caption))?.file;
    const order = shuffle(assets.length, random).map((at) => assets[at]!);
    const chosen = new Map(order.slice(0, size).map(({ title, asset_id }) => [title, asset_id]));
    const targetAsset = target && assets.find(({ title }) => title === target);
    if (targetAsset) chosen.set(targetAsset.title, targetAsset.asset_id);
    const { segments } = await index.search({
      query: question.text,
      top_k: DEPTH,
      collapse: false,
      asset_ids: chosen.size < assets.length ? [...chosen.values()] : [],
    });
    const isChosen = ({ file }: GroundTruth) => chosen.has(file);
    judged.push(judgeHits(segments, { relevant: relevant.filter(isChosen), unknown }));
  }
  return judged;
}

/** Judges the hits of a query. Leaves out those of which captions leave open what they are. */
export function judgeHits(
  segments: readonly ScoredRange[],
  { relevant, unknown }: Judgment,
): JudgedQuery {
  const hits = segments.flatMap(({ signals, score, ...hitRange }) => {
    const contains = (truth: GroundTruth) => containsTruth(hitRange, truth);
    const isRight = relevant.some(contains);
    return isRight || !unknown.some(contains) ? { signals, score, isRight } : [];
  });
  return { hits, relevantCount: new Set(relevant.map(({ file, at }) => `${file} ${at}`)).size };
}

type HitRange = Pick<Hit, "title" | "start_seconds" | "end_seconds">;
type ScoredRange = HitRange & Pick<Hit, "signals" | "score">;

function containsTruth(
  { title, start_seconds: start, end_seconds: end }: HitRange,
  { file, at }: GroundTruth,
) {
  return title === file && (at === null || (start! <= at && at < end!));
}
