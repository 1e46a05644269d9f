import { SEARCH } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { listSegmentsInScope } from "../store/segments.ts";
import { allOf, anyOf } from "../store/words.ts";
import { Timings } from "../timings.ts";
import { calibrationFor } from "./calibration.ts";
import { askChannels } from "./channels.ts";
import { evidenceOfPassage, findPassages, mergeEvidence, sharesOf } from "./evidence.ts";
import { probabilityOf } from "./fuse.ts";
import { type Hit, rank } from "./hits.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { parseQuery } from "./query.ts";
import { locate } from "./regions.ts";
import { scopeOf, type SearchRequest } from "./request.ts";
import { mergeSignals } from "./signals.ts";
import { Terms } from "./terms.ts";

/**
 * The segments of an index that answer a query, are like something, or both, the likeliest first: by
 * word (full text), by meaning (text vectors) and by looks (picture vectors), each over-fetched, less
 * what is out of scope. `hits` is the wanted page of `total`. Throws `not_found` where there is
 * nothing by the name of what they should be like.
 */
export async function search(
  env: Env,
  indexId: IndexId,
  request: SearchRequest,
  given: Likeness | null = null,
  timings = new Timings(),
): Promise<{ hits: Hit[]; total: number }> {
  const { similarTo } = request;
  const like = similarTo === null ? given : await likenessOf(env, indexId, similarTo);
  const { segmentId: exceptId = null, assetId: exceptAssetId = null } = like?.except ?? {};
  const scope = scopeOf(indexId, request, exceptAssetId);
  const query = request.query === "" ? null : parseQuery(request.query);
  const count = Math.max(SEARCH.maxCandidates, request.offset + request.topK);
  const terms = new Terms(query?.words ?? []);
  const question = { query, terms, like };
  const { findings, weights } = await askChannels(env, scope, question, count, timings);

  const bySegment = Map.groupBy(findings, ({ segmentId }) => segmentId);
  const ids = [...bySegment.keys()].filter((id) => id !== exceptId);
  const rules = { must: allOf(query?.phrases ?? []), mustNot: anyOf(query?.excluded ?? []) };
  const { segments, total: inScope } = await timings.time("rows", () =>
    listSegmentsInScope(env.DB, ids, scope.assets, rules),
  );
  const calibration = calibrationFor(env, question);
  const few = -Math.log(Math.max(1, inScope));
  const candidates = segments.map(({ segment, asset, look }) => {
    const found = bySegment.get(segment.segmentId)!;
    const passages = findPassages(segment, terms, scope.columns);
    const shares = sharesOf(passages, terms, weights);
    const signals = mergeSignals([{ few }, shares, ...found.map((one) => one.signals)]);
    const score = probabilityOf(signals, calibration);
    return { segment, asset, look, found, passages, signals, score };
  });
  const ranked = rank(candidates, request);
  const page = ranked
    .slice(request.offset, request.offset + request.topK)
    .map(({ candidate, rank, duplicates }): Hit => {
      const { segment, asset, score, signals, passages } = candidate;
      const near = candidate.found.flatMap(({ evidence }) => evidence ?? []);
      const told = passages.map((passage) => evidenceOfPassage(passage, terms));
      const evidence = mergeEvidence([...near, ...told]);
      const span = candidate.found.find((one) => one.span)?.span ?? null;
      const found = { segment, asset, score, signals };
      return Object.assign(found, { rank, evidence, span, duplicates, boxes: null, mask: null });
    });
  const hits = await timings.time("regions", () => locate(env, page, request));
  return { hits, total: ranked.length };
}
