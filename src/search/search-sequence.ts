import { mapConcurrent } from "../concurrency.ts";
import { SEARCH } from "../config.ts";
import { SEQUENCES } from "../parameters.ts";
import type { Timings } from "../timings.ts";
import {
  type Candidate,
  findForQuery,
  findMore,
  type QueryPass,
  type QuerySearch,
  toQuerySearch,
} from "./find-for-query.ts";
import { type Hit, rankCandidates } from "./hits.ts";
import type { SearchTarget } from "./index-group.ts";
import { compileQuery, toInterpretation } from "./query.ts";
import { type SearchRequest, type Subquery, toSubrequest } from "./request.ts";
import { explainBy, makeHits, type SearchResults, toResults } from "./results.ts";

interface FoundStep {
  subquery: Subquery;
  search: QuerySearch;
  pass: QueryPass;
}

/**
 * Searches for several moments of one video in order. Each step is searched for on its own, and
 * once more in the videos that have all other steps. Hits are chains of segments. A hit names its
 * first segment, which no other hit has, so that a position in the ranking is that of a search.
 * How many candidates a step has doesn't depend on the page, so that all pages have the same
 * chains. Throws `not_found` for an unknown example.
 */
export async function searchSequence(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  timings: Timings,
): Promise<SearchResults> {
  const { concurrency } = SEQUENCES;
  const findStep = async (subquery: Subquery): Promise<FoundStep> => {
    const search = await toQuerySearch(env, target, toSubrequest(request, subquery));
    // Images have no time: those that a step in images alone finds don't count.
    const { assets } = search.scope;
    const others = assets.kinds.filter((kind) => kind !== "image");
    if (others.length > 0) search.scope = { ...search.scope, assets: { ...assets, kinds: others } };
    return { subquery, search, pass: await findForQuery(env, target, search, timings) };
  };
  const steps = await mapConcurrent(request.sequence, concurrency, findStep);
  const videos = selectVideosToDeepen(steps.map(({ pass }) => bestByVideo(pass.candidates)));
  const candidates = await mapConcurrent(
    [...steps.entries()],
    concurrency,
    async ([i, { search, pass }]) => {
      const fullTextDepth = SEARCH.deepeningFactor * search.depth;
      const more = { assetIds: videos[i]!, fullTextDepth };
      const deeper =
        videos[i]!.length > 0 ? await findMore(env, target, search, pass, more, timings) : [];
      return [...pass.candidates, ...deeper].filter(isTimed);
    },
  );
  const ranked = rankCandidates(toRankable(candidates, request.withinSeconds), request);
  const isCorrected = steps.some(({ pass }) => pass.corrected !== null);
  const corrected = isCorrected ? steps.map(toSearchedText).join(", then ") : null;
  const excluded = steps.flatMap(({ pass }) => pass.query.excluded);
  const interpretation = toInterpretation({ excluded }, corrected);
  const query = compileQuery("");
  return toResults(env, request, ranked, { query, interpretation }, (selected) =>
    toHits(env, steps, selected, request, timings),
  );
}

const toSearchedText = ({ subquery, pass }: FoundStep) =>
  pass.corrected ?? subquery.similarTo ?? subquery.query;

function bestByVideo(candidates: readonly Candidate[]): Map<string, number> {
  const best = new Map<string, number>();
  for (const { asset, score } of candidates) {
    best.set(asset.assetId, Math.max(score, best.get(asset.assetId) ?? 0));
  }
  return best;
}

/** A candidate that has times, which images have none of. */
type TimedCandidate = Candidate & ChainCandidate;

function isTimed(candidate: Candidate): candidate is TimedCandidate {
  return candidate.segment.startMs !== null && candidate.segment.endMs !== null;
}

/** A chain with the fields that ranking reads: those of its first segment, and texts of all. */
type RankedChain = ReturnType<typeof toRankedChain>;

function toRankable(candidates: readonly TimedCandidate[][], withinSeconds: number): RankedChain[] {
  const [first = [], ...rest] = candidates.map((step) =>
    Map.groupBy(step, ({ asset }) => asset.assetId),
  );
  return [...first].flatMap(([assetId, beginnings]) => {
    const inVideo = [beginnings, ...rest.map((step) => step.get(assetId) ?? [])];
    return findChains(inVideo, Math.round(withinSeconds * 1000)).map(toRankedChain);
  });
}

/** Chains are near-duplicates if all of their segments are. */
function toRankedChain({ steps: found, score }: Chain<TimedCandidate>) {
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
    score,
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
  timings: Timings,
): Promise<Hit[]> {
  const { concurrency } = SEQUENCES;
  const hitsByStep = await mapConcurrent([...steps.entries()], concurrency, ([i, { pass }]) => {
    const found = selected.map(({ candidate, duplicates }) => {
      return { candidate: candidate.found[i]!, duplicates };
    });
    return makeHits(env, found, request, pass.query, explainBy(pass.query), timings);
  });
  return selected.map(({ candidate }, at) => {
    const hits = hitsByStep.map((page) => page[at]!);
    const [first, last] = [hits[0]!, hits.at(-1)!];
    return {
      ...first,
      score: candidate.score,
      timeRange: { startMs: first.segment.startMs!, endMs: last.segment.endMs! },
      steps: hits.map(({ segment, score, evidence, boxes, mask }, i) => {
        const { similarTo } = steps[i]!.subquery;
        const query = similarTo === null ? toSearchedText(steps[i]!) : null;
        return { query, similarTo, segment, score, evidence, boxes, mask };
      }),
    };
  });
}

/**
 * Selects the videos in which each step is searched once more: those that have a candidate for all
 * other steps, the likeliest first by the product of their best scores, which are by video.
 */
export function selectVideosToDeepen(steps: readonly ReadonlyMap<string, number>[]): string[][] {
  return steps.map((_, step) => {
    const others = steps.filter((_best, i) => i !== step);
    const [first, ...rest] = others.toSorted((a, b) => a.size - b.size);
    const likely = [...(first ?? [])].flatMap(([video, best]) => {
      const scores = rest.map((scoreByVideo) => scoreByVideo.get(video));
      if (scores.includes(undefined)) return [];
      return [{ video, score: scores.reduce<number>((product, score) => product * score!, best) }];
    });
    return likely
      .toSorted((a, b) => b.score - a.score || (a.video < b.video ? -1 : 1))
      .slice(0, SEQUENCES.deepenedVideos)
      .map(({ video }) => video);
  });
}

/** A segment of a video that may be a step of a chain. */
export interface ChainCandidate {
  segment: { startMs: number; endMs: number };
  /** Probability that the segment is what the step asks for, 0–1. */
  score: number;
}

/** Segments of one video in order, one for each step. */
export interface Chain<Candidate> {
  steps: Candidate[];
  /** Probability that all steps hold, each independently: the product of their scores. */
  score: number;
}

/**
 * Finds the best chains of a video: a segment for each step, in order, without overlap, each at
 * most `withinMs` behind the end of the one before. Of chains that overlap in time only the best is
 * returned (greedy non-maximum suppression), so that no segment is in two of them. `candidates` are
 * those of each step, in any order. Best first, at most `SEQUENCES.chainsPerVideo`.
 *
 * Each chain is found by dynamic programming over the steps, as DANTE does for queries of temporal
 * order (arXiv 2512.13169).
 */
export function findChains<Candidate extends ChainCandidate>(
  candidates: readonly (readonly Candidate[])[],
  withinMs: number,
): Chain<Candidate>[] {
  const chains: Chain<Candidate>[] = [];
  const open: { steps: readonly (readonly Candidate[])[]; chain: Chain<Candidate> }[] = [];
  const addRange = (steps: readonly (readonly Candidate[])[]) => {
    const chain = bestChain(steps, withinMs);
    if (chain) open.push({ steps, chain });
  };
  addRange(
    candidates.map((step) => step.toSorted((a, b) => a.segment.startMs - b.segment.startMs)),
  );
  while (open.length > 0 && chains.length < SEQUENCES.chainsPerVideo) {
    const best = open.reduce((one, other) => (isBetter(other.chain, one.chain) ? other : one));
    open.splice(open.indexOf(best), 1);
    chains.push(best.chain);
    const [{ startMs }, { endMs }] = [
      best.chain.steps[0]!.segment,
      best.chain.steps.at(-1)!.segment,
    ];
    addRange(best.steps.map((step) => step.filter(({ segment }) => segment.endMs <= startMs)));
    addRange(best.steps.map((step) => step.filter(({ segment }) => segment.startMs >= endMs)));
  }
  return chains;
}

/** Returns the chain with the highest score, of equal ones the earliest; null without any. */
function bestChain<Candidate extends ChainCandidate>(
  [first = [], ...rest]: readonly (readonly Candidate[])[],
  withinMs: number,
): Chain<Candidate> | null {
  let chains = first.map((candidate) => ({ steps: [candidate], score: candidate.score }));
  for (const candidates of rest) chains = appendStep(chains, candidates, withinMs);
  return chains.reduce<Chain<Candidate> | null>(
    (best, chain) => (best === null || isBetter(chain, best) ? chain : best),
    null,
  );
}

function isBetter(one: Chain<ChainCandidate>, other: Chain<ChainCandidate>): boolean {
  if (one.score !== other.score) return one.score > other.score;
  return one.steps.at(-1)!.segment.startMs < other.steps.at(-1)!.segment.startMs;
}

/**
 * Appends the candidates of the next step, sorted by their start, each to the best chain that ends
 * before it, of equal ones to the nearest. A candidate that none of them precedes in time is left
 * out. The best chain of the time window is the head of a monotonic queue (Lemire, "Streaming
 * maximum-minimum filter", 2006).
 */
function appendStep<Candidate extends ChainCandidate>(
  chains: readonly Chain<Candidate>[],
  candidates: readonly Candidate[],
  withinMs: number,
): Chain<Candidate>[] {
  const byEnd = chains.toSorted((a, b) => endOf(a) - endOf(b));
  const queue: Chain<Candidate>[] = []; // scores fall from `head` on
  let [head, next] = [0, 0];
  return candidates.flatMap((candidate) => {
    const { startMs } = candidate.segment;
    for (; next < byEnd.length && endOf(byEnd[next]!) <= startMs; next++) {
      const chain = byEnd[next]!;
      while (queue.length > head && queue.at(-1)!.score <= chain.score) queue.pop();
      queue.push(chain);
    }
    while (head < queue.length && endOf(queue[head]!) < startMs - withinMs) head++;
    const before = queue[head];
    if (!before) return [];
    return [{ steps: [...before.steps, candidate], score: before.score * candidate.score }];
  });
}

/** End in ms. A segment lasts at least one, so that it never precedes itself. */
function endOf({ steps }: Chain<ChainCandidate>): number {
  const { startMs, endMs } = steps.at(-1)!.segment;
  return Math.max(endMs, startMs + 1);
}
