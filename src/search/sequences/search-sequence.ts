import { mapConcurrent, TimeSlice } from "../../concurrency.ts";
import { SEARCH } from "../../config.ts";
import { SEQUENCES } from "../../parameters.ts";
import { Timings } from "../../timings.ts";
import { textLength } from "../evidence.ts";
import { type Hit, rankCandidates, takePage } from "../hits.ts";
import { type SearchTarget, targetCalibration } from "../index-group.ts";
import { localizeHits, type UnlocalizedHit } from "../localization.ts";
import { compileQuery } from "../query.ts";
import type { SearchRequest } from "../request.ts";
import { toEvidence } from "../score-segment.ts";
import type { Candidate, SearchResults } from "../search.ts";
import { type Chain, type ChainCandidate, findChains } from "./chains.ts";
import { selectVideosToDeepen } from "./deepening.ts";
import { deepenStep, findStep, type FoundStep } from "./find-step.ts";

/** A candidate of a step, with its times. */
interface StepCandidate extends ChainCandidate {
  found: Candidate;
}

/**
 * Searches for several moments of one video in order. Each step is searched for on its own, and
 * once more in the videos that have all other steps. Hits are chains of segments. A hit names its
 * first segment, which no other hit has, so that a position in the ranking is that of a search.
 * Throws `not_found` for an unknown example.
 */
export async function searchSequence(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  timings = new Timings(),
): Promise<SearchResults> {
  const steps = await mapConcurrent(request.sequence, SEQUENCES.concurrency, (subquery) =>
    findStep(env, target, request, subquery, timings),
  );
  const videos = selectVideosToDeepen(steps.map(({ pass }) => bestByVideo(pass.candidates)));
  const candidates = await mapConcurrent(
    [...steps.entries()],
    SEQUENCES.concurrency,
    async (one) => {
      const [i, step] = one;
      const deeper = await deepenStep(env, target, step, videos[i]!, timings);
      return [...step.pass.candidates, ...deeper].flatMap(toStepCandidate);
    },
  );
  const ranked = rankCandidates(toRankable(candidates, request.withinSeconds), request);
  const { selected, total, next, facets } = takePage(ranked, request);
  const hits = await timings.time("localize", () => toHits(env, steps, selected, request));
  const corrected = steps.some((step) => step.corrected !== null);
  return {
    hits,
    total,
    next,
    facets,
    query: compileQuery(""),
    calibration: targetCalibration(env, target),
    interpretation: {
      excluded: steps.flatMap(({ query }) => query.excluded.map((words) => words.join(" "))),
      corrected: corrected ? steps.map(toSearchedText).join(", then ") : null,
    },
  };
}

const toSearchedText = ({ subquery, corrected }: FoundStep) =>
  corrected ?? (subquery.similarTo === null ? subquery.query : subquery.similarTo);

function bestByVideo(candidates: readonly Candidate[]): Map<string, number> {
  const best = new Map<string, number>();
  for (const { asset, score } of candidates) {
    best.set(asset.assetId, Math.max(score, best.get(asset.assetId) ?? 0));
  }
  return best;
}

function toStepCandidate(found: Candidate): StepCandidate[] {
  const { startMs, endMs } = found.segment;
  if (startMs === null || endMs === null) return [];
  return [{ startMs, endMs, score: found.score, found }];
}

/** A chain with the fields that ranking reads: those of its first segment, and texts of all. */
type RankedChain = ReturnType<typeof toRankedChain>;

/** Finds the chains of each video. */
function toRankable(candidates: readonly StepCandidate[][], withinSeconds: number): RankedChain[] {
  const [first = [], ...rest] = candidates.map((step) =>
    Map.groupBy(step, ({ found }) => found.asset.assetId),
  );
  return [...first].flatMap(([assetId, beginnings]) => {
    const inVideo = [beginnings, ...rest.map((step) => step.get(assetId) ?? [])];
    return findChains(inVideo, Math.round(withinSeconds * 1000)).map(toRankedChain);
  });
}

/** Chains are near-duplicates if all of their segments are. */
function toRankedChain(chain: Chain<StepCandidate>) {
  const found = chain.steps.map((step) => step.found);
  const [first] = found;
  const hashes = found.map(({ keyframeHash }) => keyframeHash);
  const joined = (field: "transcript" | "onScreenText") =>
    found.map(({ segment }) => segment[field]).join(" ");
  return {
    segment: {
      segmentId: first!.segment.segmentId,
      transcript: joined("transcript"),
      onScreenText: joined("onScreenText"),
      labels: [...new Set(found.flatMap(({ segment }) => segment.labels))],
    },
    keyframeHash: hashes.includes(null) ? null : hashes.flatMap((hash) => hash!),
    asset: first!.asset,
    score: chain.score,
    signals: {},
    depth: SEARCH.maxCandidates,
    found,
  };
}

/** Makes the hits of a page. Each segment has the evidence, boxes and mask of its step. */
async function toHits(
  env: Env,
  steps: readonly FoundStep[],
  selected: readonly { candidate: RankedChain; duplicates: string[] }[],
  request: SearchRequest,
): Promise<Hit[]> {
  const slice = new TimeSlice();
  const { concurrency } = SEQUENCES;
  const hitsByStep = await mapConcurrent([...steps.entries()], concurrency, async (one) => {
    const [i, { query }] = one;
    const page: UnlocalizedHit[] = [];
    for (const { candidate, duplicates } of selected) {
      const found = candidate.found[i]!;
      await slice.use(textLength(found.segment));
      const rank = request.offset + page.length + 1;
      const { segment, asset, score, generalScore, signals } = found;
      const scores = { score, generalScore, signals };
      const evidence = toEvidence(found, query);
      page.push({ segment, asset, rank, ...scores, evidence, timeRange: null, duplicates });
    }
    return localizeHits(env, page, query, request);
  });
  return selected.map(({ candidate }, at) => {
    const hits = hitsByStep.map((page) => page[at]!);
    const [first, last] = [hits[0]!, hits.at(-1)!];
    return {
      ...first,
      score: candidate.score,
      generalScore: hits.reduce((product, { generalScore }) => product * generalScore, 1),
      timeRange: { startMs: first.segment.startMs!, endMs: last.segment.endMs! },
      steps: hits.map(({ segment, score, evidence, boxes, mask }, i) => {
        const { similarTo } = steps[i]!.subquery;
        const query = similarTo === null ? toSearchedText(steps[i]!) : null;
        return { query, similarTo, segment, score, evidence, boxes, mask };
      }),
    };
  });
}
