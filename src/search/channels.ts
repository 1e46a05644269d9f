import { SEARCH } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import type { SegmentId } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { log } from "../log.ts";
import { hasImageEmbeddings } from "../models/embed-image.ts";
import type { VectorHit } from "../store/vectorize/vectors.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Timings } from "../timings.ts";
import { embedQueryForImages, embedQueryText } from "./embed-query.ts";
import { type Evidence, vectorEvidence } from "./evidence.ts";
import { meanDirection } from "./example.ts";
import type { Feedback } from "./feedback.ts";
import type { Signals } from "./fuse.ts";
import type { SearchTarget } from "./index-group.ts";
import { groupTargetAssets, searchTarget } from "./knn.ts";
import type { CompiledQuery, CopyMatch } from "./query.ts";
import { refineVector } from "./refine-vector.ts";
import type { SearchScope } from "./request.ts";

/** A segment that a retrieval channel found, with the channel's signals. */
export interface ChannelHit {
  segmentId: SegmentId;
  signals: Signals;
  /** Null for full text: terms are matched in all candidates, whichever channel found them. */
  evidence: Evidence | null;
  /** The matching part of the video; null for the whole segment. */
  timeRange: TimeRangeMs | null;
}

/** A direction that a channel searched in, to compare segments with that it didn't return. */
export interface SearchedVector {
  space: "text" | "image";
  values: number[];
  /** Added to each cosine. */
  offset: number;
  /** Mean of the cosines of the nearest, with the offset. */
  mean: number;
}

interface ChannelHits {
  hits: ChannelHit[];
  searched: SearchedVector[];
  /** Every channel returned fewer hits than requested: a deeper search finds nothing new. */
  isExhaustive: boolean;
  /** Why a channel is missing, if there is no text to search for; else null. */
  outage: AppError | null;
}

interface ChannelsInput {
  scope: SearchScope;
  query: CompiledQuery;
  feedback: Feedback;
  count: number;
  /** What an earlier pass in more assets searched: its means count, so that scores compare. */
  searched?: readonly SearchedVector[] | undefined;
}

/**
 * Queries all channels but the full text that the query has input for, concurrently, each for at
 * least `count` segments. A channel whose model or index is unavailable returns no hits.
 */
export async function queryChannels(
  env: Env,
  target: SearchTarget,
  input: ChannelsInput,
  { time }: Timings,
): Promise<ChannelHits> {
  const { scope, query, feedback, count } = input;
  const { plainText, example } = query;
  const assetGroups = groupTargetAssets(env, target, scope.assets);
  assetGroups.catch(ignoreUntilAwaited); // by a channel, if any gets that far
  const searched: SearchedVector[] = [];
  const searchVectors = async (space: "text" | "image", vector: number[]) => {
    const groups = await assetGroups;
    const nearest = (toVector: number[], hitCount: number) =>
      searchTarget(env, target, { space, scope, vector: toVector, count: hitCount }, groups);
    return time("knn", async () => {
      const refined = refineVector(vector, feedback[space], feedback.weights);
      const [hits, unrefined] = await Promise.all([
        nearest(refined, count),
        space === "text" || refined === vector ? null : nearest(vector, SEARCH.maxCandidates),
      ]);
      const offset = unrefined ? meanCosine(unrefined) - meanCosine(hits) : 0;
      const moved = offset === 0 ? hits : moveCosines(hits, offset);
      const known = input.searched?.find((vectors) => vectors.space === space);
      const mean = known?.mean ?? meanCosine(moved);
      if (hits.length > 0) searched.push({ space, values: refined, offset, mean });
      return toVectorHits(space, moved, mean);
    });
  };

  const outages = example?.outage ? [example.outage] : [];
  const channels: Promise<ChannelHit[]>[] = [];
  if (plainText) {
    const byText = async () => {
      const vector = await time("embed", () => embedQueryText(env, plainText));
      return vector ? searchVectors("text", vector) : [];
    };
    channels.push(noneIfUnavailable("text_vectors", outages, byText));
  }
  if (example?.copies) channels.push(Promise.resolve(example.copies.map(toCopyHit)));
  if (example?.textVector) {
    const { textVector } = example;
    const byExampleText = () => searchVectors("text", textVector);
    channels.push(noneIfUnavailable("text_vectors", outages, byExampleText));
  }
  const imageVector = example?.imageVector ?? null;
  if (scope.useImageVectors && hasImageEmbeddings(env) && (plainText || imageVector)) {
    const byImage = async () => {
      const textVector = plainText
        ? await time("embed", () => embedQueryForImages(env, plainText))
        : null;
      if (textVector === null && imageVector === null) return [];
      return searchVectors("image", meanDirection([textVector, imageVector]));
    };
    channels.push(noneIfUnavailable("image_vectors", outages, byImage));
  }
  const hits = await Promise.all(channels);
  return {
    hits: hits.flat(),
    searched,
    isExhaustive: hits.every(({ length }) => length < count),
    outage: plainText ? null : (outages[0] ?? null),
  };
}

/**
 * Moves the cosines of a refined vector's hits to the range of the query's own: images are nearer
 * to images than to words.
 */
export function moveCosines(hits: readonly VectorHit[], offset: number): VectorHit[] {
  return hits.map((hit) => ({ ...hit, cosine: hit.cosine + offset }));
}

/** Converts hits of vectors. `mean` is that of the cosines of the nearest. */
export function toVectorHits(
  space: "text" | "image",
  hits: readonly VectorHit[],
  mean: number,
): ChannelHit[] {
  return hits.map((hit) => {
    const margin = hit.cosine - mean;
    const signals =
      space === "text"
        ? { text_margin: margin }
        : { image_similarity: hit.cosine, image_margin: margin };
    return { segmentId: hit.segmentId, signals, evidence: vectorEvidence(hit), timeRange: null };
  });
}

/** Averages the nearest `SEARCH.maxCandidates` only, so that margins don't depend on the depth. */
export function meanCosine(hits: readonly { cosine: number }[]): number {
  const nearest = hits.slice(0, SEARCH.maxCandidates);
  return nearest.reduce((sum, { cosine }) => sum + cosine, 0) / nearest.length;
}

export function toCopyHit({ segmentId, similarity, timeRange }: CopyMatch): ChannelHit {
  return {
    segmentId,
    signals: { copy_similarity: similarity },
    evidence: { kind: "visual", score: similarity },
    timeRange,
  };
}

/** Returns no hits if the channel is unavailable, and adds the failure to `outages`. */
async function noneIfUnavailable(
  channel: string,
  outages: AppError[],
  query: () => Promise<ChannelHit[]>,
): Promise<ChannelHit[]> {
  const hits = await tryChannel(channel, query);
  if (!(hits instanceof AppError)) return hits;
  outages.push(hits);
  return [];
}

/** Runs a channel's model call or query. Logs and returns an `AppError` instead of throwing it. */
export async function tryChannel<T>(
  channel: string,
  query: () => Promise<T>,
): Promise<T | AppError> {
  try {
    return await query();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "search.channel_unavailable", { channel, code: error.code, cause: traceOf(error) });
    return error;
  }
}
