import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { SEARCH } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { TEMPLATE } from "../../models/describe.ts";
import { WATCHES } from "../../parameters.ts";
import type { NearestLists } from "../../store/d1/watches.ts";
import { indexDatabase, indexDatabases } from "../../store/index-database/index-database.ts";
import { countWithText, findScopesOf } from "../../store/index-database/matches.ts";
import type { Asset, IndexRef } from "../../types.ts";
import { tryChannel } from "../channels.ts";
import { findNearest } from "../knn.ts";
import type { CompiledWatch } from "./watch-vectors.ts";

/** A watch with all that it needs to score an asset's segments. */
export interface ActiveWatch extends CompiledWatch {
  nearest: NearestLists;
}

/** Selects the watches whose scope the asset is in, with their counts and nearest segments. */
export async function selectActive(
  env: Env,
  index: IndexRef,
  asset: Asset,
  compiled: readonly CompiledWatch[],
): Promise<ActiveWatch[]> {
  const now = Date.now();
  const atNow = (watch: CompiledWatch) => ({ ...watch.scope.assets, readyBy: now });
  const db = indexDatabase(env, asset);
  const isIncluded = await findScopesOf(db, asset.assetId, compiled.map(atNow));
  const included = compiled.filter((_, i) => isIncluded[i]);
  return mapConcurrent(included, CONNECTIONS, async (watch) => {
    const stored = watch.watch.nearest;
    const isRecent = stored !== null && stored.at > now - WATCHES.nearestMaxAgeMs;
    const read = isRecent ? null : await readNearest(env, index, watch, now);
    return { ...watch, nearest: read ?? stored ?? NOT_READ };
  });
}

/** Nothing near is known: as if the nearest segments had text. */
const NOT_READ: NearestLists = {
  at: 0,
  lists: [],
  found: SEARCH.maxCandidates,
  withText: SEARCH.maxCandidates,
};

/** Reads the nearest segments of a watch from Vectorize; null if that is unavailable. */
async function readNearest(
  env: Env,
  index: IndexRef,
  { scope, vectors }: CompiledWatch,
  readyBy: number,
): Promise<NearestLists | null> {
  const queries = vectors.map(({ space, values }) => ({ space, vector: Array.from(values) }));
  const at = { ...scope, assets: { ...scope.assets, readyBy } };
  const read = () => findNearest(env, index, at, queries);
  const lists = await tryChannel("watch_vectors", read);
  if (lists instanceof AppError) return null;
  const idsIn = (space: "text" | "image") =>
    lists
      .flatMap((hits, i) => (vectors[i]!.space === space ? hits : []))
      .map((hit) => hit.segmentId);
  const textIds = new Set(idsIn("text"));
  return {
    at: readyBy,
    lists: lists.map((hits) => hits.map(({ segmentId, cosine }) => [segmentId, cosine])),
    found: new Set([...textIds, ...idsIn("image")]).size,
    withText:
      textIds.size && (await countWithText(indexDatabases(env, index), [...textIds], TEMPLATE)),
  };
}
