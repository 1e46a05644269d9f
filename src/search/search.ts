import { SEARCH } from "../config.ts";
import { listSegmentsInScope } from "../store/segments.ts";
import { allOf, anyOf } from "../store/words.ts";
import { Timings } from "../timings.ts";
import { calibrationFor } from "./calibration.ts";
import { askChannels } from "./channels.ts";
import { probabilityOf } from "./fuse.ts";
import { type Hit, toHits } from "./hits.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { parseQuery } from "./query.ts";
import { locate } from "./regions.ts";
import { scopeOf, type SearchRequest } from "./request.ts";
import { mergeSignals } from "./signals.ts";

/**
 * The segments of an index that answer a query, are like something, or both, the likeliest first: by
 * word (full text), by meaning (text vectors) and by looks (picture vectors), each over-fetched, less
 * what is out of scope. `hits` is the wanted page of `total`. Throws `not_found` where there is
 * nothing by the name of what they should be like.
 */
export async function search(
  env: Env,
  indexId: string,
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
  const findings = await askChannels(env, scope, { query, like }, count, timings);

  const bySegment = Map.groupBy(findings, ({ segmentId }) => segmentId);
  const ids = [...bySegment.keys()].filter((id) => id !== exceptId);
  const rules = { must: allOf(query?.phrases ?? []), mustNot: anyOf(query?.excluded ?? []) };
  const rows = await timings.time("rows", () =>
    listSegmentsInScope(env.DB, ids, scope.assets, rules),
  );
  const calibration = calibrationFor(env, like);
  // More than are always asked for say nothing more, so that it's the same on every page.
  const few = -Math.log(Math.min(rows.length, SEARCH.maxCandidates));
  const candidates = rows.map(({ segment, asset, look }) => {
    const found = bySegment.get(segment.segmentId)!;
    const signals = mergeSignals([{ few }, ...found.map((one) => one.signals)]);
    return {
      segment,
      asset,
      look,
      signals,
      score: probabilityOf(signals, calibration),
      evidence: found.flatMap(({ evidence }) => evidence),
      span: found.find(({ span }) => span)?.span ?? null,
    };
  });
  const hits = toHits(candidates, request);
  const page = hits.slice(request.offset, request.offset + request.topK);
  const located = await timings.time("regions", () => locate(env, page, request));
  return { hits: located, total: hits.length };
}
