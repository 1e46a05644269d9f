import { SEARCH } from "../config.ts";
import { Timings } from "../timings.ts";
import type { NamedIndexRef } from "../types.ts";
import { type Candidate, findCandidates } from "./candidates.ts";
import { type CompiledQuery, compileQuery } from "./compiled-query.ts";
import { type Evidence, fieldEvidence, mergeEvidence } from "./evidence.ts";
import { type ExampleQuery, exampleFromStored } from "./example.ts";
import { type Hit, rankCandidates } from "./hits.ts";
import { localizeHits } from "./localization.ts";
import { type SearchRequest, toSearchScope } from "./request.ts";

/** A page of hits, best first, and the number of hits on all pages. */
export interface SearchResults {
  hits: Hit[];
  total: number;
  query: CompiledQuery;
}

/**
 * Searches an index by text, by example, or both: full text, text vectors, image vectors and
 * copies, each over-fetched. If the best candidates of each channel don't fill the page, a deeper
 * pass adds more behind them, so that earlier pages keep their order. Throws `not_found` if
 * `similarTo` names nothing in the index.
 */
export async function search(
  env: Env,
  index: NamedIndexRef,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null = null,
  timings = new Timings(),
): Promise<SearchResults> {
  const { similarTo, offset, topK, topP } = request;
  const example =
    similarTo === null ? uploadedExample : await exampleFromStored(env, index, similarTo);
  const query = compileQuery(request.query, example);
  const { segmentId = null, assetId = null } = example?.exclude ?? {};
  const scope = toSearchScope(request, assetId);
  const excludedIds = new Set<string>(segmentId === null ? [] : [segmentId]);
  const findAtDepth = (depth: number) => {
    return findCandidates(env, index, scope, query, depth, excludedIds, timings);
  };

  const depth = Math.max(SEARCH.maxCandidates, topK);
  const { candidates, isExhaustive } = await findAtDepth(depth);
  let ranked = rankCandidates(candidates, request);
  if (!isExhaustive && ranked.length <= offset + topK) {
    for (const { segment } of candidates) excludedIds.add(segment.segmentId);
    const deeper = await findAtDepth(SEARCH.deepeningFactor * depth);
    ranked = rankCandidates([...candidates, ...deeper.candidates], request);
  }
  const relevant = ranked.filter(({ candidate }) => candidate.score >= topP);
  const page = relevant.slice(offset, offset + topK).map(({ candidate, duplicates }, i): Hit => {
    const { segment, asset, score, signals, channelHits } = candidate;
    const timeRange = channelHits.find((hit) => hit.timeRange)?.timeRange ?? null;
    const evidence = toEvidence(candidate, query);
    const rank = offset + i + 1;
    const [boxes, mask] = [null, null]; // set by localizeHits
    return { segment, asset, rank, score, signals, evidence, timeRange, duplicates, boxes, mask };
  });
  const hits = await timings.time("localize", () => localizeHits(env, page, query, request));
  return { hits, total: relevant.length, query };
}

function toEvidence(
  { channelHits, fieldMatches }: Candidate,
  { terms }: CompiledQuery,
): Evidence[] {
  const fromChannels = channelHits.flatMap(({ evidence }) => evidence ?? []);
  const fromFields = fieldMatches.map((match) => fieldEvidence(match, terms));
  return mergeEvidence([...fromChannels, ...fromFields]);
}
