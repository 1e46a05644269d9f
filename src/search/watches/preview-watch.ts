import { z } from "zod";
import { SEARCH } from "../../config.ts";
import { WATCHES } from "../../parameters.ts";
import { listCreationTimes } from "../../store/d1/assets.ts";
import type { WatchRequest } from "../../store/d1/watches.ts";
import { Timings } from "../../timings.ts";
import { ASSET_KINDS } from "../../types.ts";
import { calibrationState, type SearchableIndexRef } from "../calibration.ts";
import { exampleFromStored } from "../example.ts";
import { NO_FEEDBACK } from "../feedback.ts";
import { exampleFromImage } from "../image-example.ts";
import { compileQuery } from "../query.ts";
import { searchRequest } from "../request.ts";
import { findCandidates } from "../search.ts";
import type { StoredResults } from "../stored-results.ts";
import type { WatchMatch } from "./find-matches.ts";
import { summarizePreview } from "./preview-summary.ts";
import { toWatchScope } from "./watch-vectors.ts";

/** The request that the job of a preview carries. */
export const watchRequest = z.object({
  ...searchRequest.pick({ query: true, similarTo: true, conditions: true, modes: true }).shape,
  hasImage: z.boolean(),
  filter: z.record(z.string(), z.unknown()),
  assetTypes: z.array(z.enum(ASSET_KINDS)),
}) satisfies z.ZodType<WatchRequest>;

/** A watch that is previewed: stored or not. */
export interface PreviewInput {
  request: WatchRequest;
  minProbability: number;
  /** JPEG of the example in base64; null without one. */
  image: string | null;
}

/** The stored result of a preview: its segments are read again when it is. */
export type StoredPreview = Awaited<ReturnType<typeof previewWatch>>;

/**
 * Finds what a watch would have announced of the assets that are searchable now: the segments that
 * a search finds by its vectors, and all with its terms, at most `WATCHES.previewDepth`.
 */
export async function previewWatch(
  env: Env,
  index: SearchableIndexRef,
  { request, minProbability, image }: PreviewInput,
) {
  const example =
    request.similarTo !== null
      ? await exampleFromStored(env, index, request.similarTo)
      : image === null
        ? null
        : await exampleFromImage(env, index, Buffer.from(image, "base64"));
  const query = compileQuery(request.query, example);
  const scope = toWatchScope({ request });
  const excludedId = example?.exclude.segmentId ?? null;
  const pass = {
    scope: { ...scope, assets: { ...scope.assets, readyBy: Date.now() } },
    query,
    feedback: NO_FEEDBACK,
    depth: SEARCH.maxCandidates,
    fullTextDepth: WATCHES.previewDepth,
    excludedIds: new Set<string>(excludedId === null ? [] : [excludedId]),
  };
  const { candidates } = await findCandidates(env, index, pass, new Timings());
  const byAsset = Map.groupBy(candidates, ({ asset }) => asset.assetId);
  const times = await listCreationTimes(env.DB, index.indexId, [...byAsset.keys()]);
  const assets = [...byAsset].map(([assetId, scored]) => {
    return { createdAt: times.get(assetId) ?? 0, scored };
  });
  const { best, nearest, ...summary } = summarizePreview(assets, query, minProbability);
  return {
    index_name: index.name,
    min_probability: minProbability,
    ...summary,
    calibration: calibrationState(env, index.calibration),
    best: best.map(toStoredHit),
    nearest_threshold: nearest.map(toStoredHit),
  };
}

function toStoredHit(match: WatchMatch, i: number): StoredResults["hits"][number] {
  return { ...match, generalScore: match.score, rank: i + 1, boxes: null, mask: null };
}
