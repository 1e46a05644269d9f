import { SEQUENCES } from "../../parameters.ts";

/** A segment of a video that may be a step of a chain. */
export interface ChainCandidate {
  startMs: number;
  endMs: number;
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
  const sorted = candidates.map((step) => step.toSorted((a, b) => a.startMs - b.startMs));
  const whole = toOpenRange(sorted, withinMs);
  const open = whole ? [whole] : [];
  while (open.length > 0 && chains.length < SEQUENCES.chainsPerVideo) {
    const best = open.reduce((one, other) => (isBetter(other.chain, one.chain) ? other : one));
    open.splice(open.indexOf(best), 1);
    chains.push(best.chain);
    const [startMs, endMs] = [best.chain.steps[0]!.startMs, best.chain.steps.at(-1)!.endMs];
    for (const isBeside of [
      (candidate: Candidate) => candidate.endMs <= startMs,
      (candidate: Candidate) => candidate.startMs >= endMs,
    ]) {
      const beside = best.candidates.map((step) => step.filter(isBeside));
      const range = toOpenRange(beside, withinMs);
      if (range) open.push(range);
    }
  }
  return chains;
}

/** Candidates between chains that were found, by their start, and the best chain of them. */
interface OpenRange<Candidate> {
  candidates: readonly (readonly Candidate[])[];
  chain: Chain<Candidate>;
}

function toOpenRange<Candidate extends ChainCandidate>(
  candidates: readonly (readonly Candidate[])[],
  withinMs: number,
): OpenRange<Candidate> | null {
  const chain = bestChain(candidates, withinMs);
  return chain && { candidates, chain };
}

/** The best chain of the first steps that ends with a candidate. */
interface Link<Candidate> {
  candidate: Candidate;
  score: number;
  before: Link<Candidate> | null;
}

/** Returns the chain with the highest score, of equal ones the earliest; null without any. */
function bestChain<Candidate extends ChainCandidate>(
  [first = [], ...rest]: readonly (readonly Candidate[])[],
  withinMs: number,
): Chain<Candidate> | null {
  let links = first.map((candidate): Link<Candidate> => {
    return { candidate, score: candidate.score, before: null };
  });
  for (const candidates of rest) links = appendStep(links, candidates, withinMs);
  let best: Chain<Candidate> | null = null;
  for (const link of links) {
    if (best !== null && link.score < best.score) continue;
    const chain = { steps: toSteps(link), score: link.score };
    if (best === null || isBetter(chain, best)) best = chain;
  }
  return best;
}

function isBetter<Candidate extends ChainCandidate>(
  one: Chain<Candidate>,
  other: Chain<Candidate>,
): boolean {
  if (one.score !== other.score) return one.score > other.score;
  return one.steps.at(-1)!.startMs < other.steps.at(-1)!.startMs;
}

function toSteps<Candidate>(last: Link<Candidate>): Candidate[] {
  const steps = [];
  for (let link: Link<Candidate> | null = last; link; link = link.before) {
    steps.push(link.candidate);
  }
  return steps.toReversed();
}

/**
 * Appends the candidates of the next step, sorted by their start, each to the best link that ends
 * before it, of equal ones to the nearest. A candidate that none of them precedes in time is left
 * out. The best link of the time window is the head of a monotonic queue (Lemire, "Streaming
 * maximum-minimum filter", 2006).
 */
function appendStep<Candidate extends ChainCandidate>(
  links: readonly Link<Candidate>[],
  candidates: readonly Candidate[],
  withinMs: number,
): Link<Candidate>[] {
  const byEnd = links.toSorted((a, b) => endOf(a) - endOf(b));
  const queue: Link<Candidate>[] = []; // scores fall from `head` on
  let head = 0;
  let next = 0;
  return candidates.flatMap((candidate) => {
    for (; next < byEnd.length && endOf(byEnd[next]!) <= candidate.startMs; next++) {
      const link = byEnd[next]!;
      while (queue.length > head && queue.at(-1)!.score <= link.score) queue.pop();
      queue.push(link);
    }
    while (head < queue.length && endOf(queue[head]!) < candidate.startMs - withinMs) head++;
    const before = queue[head];
    return before ? [{ candidate, score: before.score * candidate.score, before }] : [];
  });
}

/** End in ms. A segment lasts at least one, so that it never precedes itself. */
function endOf({ candidate: { startMs, endMs } }: Link<ChainCandidate>): number {
  return Math.max(endMs, startMs + 1);
}
