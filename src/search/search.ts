import { SEARCH } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { Timings } from "../timings.ts";
import { type Candidate, findCandidates } from "./candidates.ts";
import { evidenceOfPassage, mergeEvidence } from "./evidence.ts";
import { type Hit, rank } from "./hits.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { parseQuery } from "./query.ts";
import { locate } from "./regions.ts";
import { scopeOf, type SearchRequest } from "./request.ts";
import { Terms } from "./terms.ts";

/**
 * The segments of an index that answer a query, are like something, or both, the likeliest first: by
 * word (full text), by meaning (text vectors) and by looks (picture vectors), each over-fetched. What is found
 * among the best of each comes first; only where that doesn't fill the page, what is found deeper comes behind it,
 * so that a page is the same whatever was asked before. `hits` is the wanted page of `total`. Throws `not_found`
 * where there is nothing by the name of what they should be like.
 */
export async function search(
  env: Env,
  indexId: IndexId,
  request: SearchRequest,
  given: Likeness | null = null,
  timings = new Timings(),
): Promise<{ hits: Hit[]; total: number }> {
  const { similarTo, offset, topK, topP } = request;
  const like = similarTo === null ? given : await likenessOf(env, indexId, similarTo);
  const { segmentId: exceptId = null, assetId: exceptAssetId = null } = like?.except ?? {};
  const scope = scopeOf(indexId, request, exceptAssetId);
  const query = parseQuery(request.query, like === null);
  const terms = new Terms(query.words);
  const question = { query, terms, like };
  const without = new Set<string>(exceptId === null ? [] : [exceptId]);
  const findAt = (depth: number) => {
    return findCandidates(env, scope, question, depth, without, timings);
  };

  const depth = Math.max(SEARCH.maxCandidates, topK);
  const { candidates, isAll } = await findAt(depth);
  let ranked = rank(candidates, request);
  if (!isAll && ranked.length <= offset + topK) {
    for (const { segment } of candidates) without.add(segment.segmentId);
    const deeper = await findAt(SEARCH.deeper * depth);
    ranked = rank([...candidates, ...deeper.candidates], request);
  }
  const likely = ranked.filter(({ candidate }) => candidate.score >= topP);
  const page = likely.slice(offset, offset + topK).map(({ candidate, duplicates }, at): Hit => {
    const { segment, asset, score, signals } = candidate;
    const span = candidate.found.find((one) => one.span)?.span ?? null;
    const evidence = evidenceOf(candidate, terms);
    const rank = offset + at + 1;
    const [boxes, mask] = [null, null]; // until they are located
    return { segment, asset, rank, score, signals, evidence, span, duplicates, boxes, mask };
  });
  const hits = await timings.time("regions", () => locate(env, page, request));
  return { hits, total: likely.length };
}

function evidenceOf({ found, passages }: Candidate, terms: Terms) {
  const near = found.flatMap(({ evidence }) => evidence ?? []);
  const told = passages.map((passage) => evidenceOfPassage(passage, terms));
  return mergeEvidence([...near, ...told]);
}
