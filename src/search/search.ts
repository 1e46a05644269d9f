import { SEARCH } from "../config.ts";
import { listSegmentsInScope } from "../store/segments.ts";
import { allOf, anyOf } from "../store/words.ts";
import { askChannels } from "./channels.ts";
import { fuse } from "./fuse.ts";
import { type Hit, toHits } from "./hits.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { parseQuery } from "./query.ts";
import { scopeOf, type SearchRequest } from "./request.ts";

/**
 * The segments of an index that answer a query, are like something, or both, the best first: by meaning
 * (text vectors), by looks (picture vectors) and by word (full text), each over-fetched, less what is
 * out of scope, fused by rank. `hits` is the wanted page of `total`. Throws `not_found` where there is
 * nothing by the name of what they should be like.
 */
export async function search(
  env: Env,
  indexId: string,
  request: SearchRequest,
  given: Likeness | null = null,
): Promise<{ hits: Hit[]; total: number }> {
  const { similarTo } = request;
  const like = similarTo === null ? given : await likenessOf(env, indexId, similarTo);
  const { segmentId: exceptId = null, assetId: exceptAssetId = null } = like?.except ?? {};
  const scope = scopeOf(indexId, request, exceptAssetId);
  const query = request.query === "" ? null : parseQuery(request.query);
  const count = Math.max(SEARCH.maxCandidates, request.offset + request.topK);
  const channels = await askChannels(env, scope, { query, like }, count);

  const found = channels.flatMap((channel) => channel.found);
  const ids = new Set(found.map(({ segmentId }) => segmentId).filter((id) => id !== exceptId));
  const rules = { must: allOf(query?.phrases ?? []), mustNot: anyOf(query?.excluded ?? []) };
  const rows = await listSegmentsInScope(env.DB, [...ids], scope.assets, rules);
  const byId = new Map(rows.map((row) => [row.segment.segmentId, row]));

  const fused = fuse(
    channels.map((channel) => {
      const known = channel.found.map(({ segmentId }) => segmentId).filter((id) => byId.has(id));
      return { ids: [...new Set(known)], weight: channel.weight };
    }),
  );
  const evidence = Map.groupBy(found, ({ segmentId }) => segmentId);
  const hits = toHits(
    fused.map(({ id, score }) => {
      const pieces = (evidence.get(id) ?? []).flatMap((one) => one.evidence);
      const { segment, asset } = byId.get(id)!;
      return { segment, asset, score, evidence: pieces };
    }),
    request,
  );
  const page = hits.slice(request.offset, request.offset + request.topK);
  return { hits: page, total: hits.length };
}
