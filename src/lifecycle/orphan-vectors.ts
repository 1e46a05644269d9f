import { LIFECYCLE, MODELS } from "../config.ts";
import type { IndexId, SegmentId, VectorId } from "../ids.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listFirstSegments, listUnknownSegments } from "../store/orphans.ts";
import { vectorPairs, type VectorSpace } from "../store/vectorize/vector-pairs.ts";
import {
  deleteVectorsOf,
  getVectors,
  listNearestIds,
  toSegmentId,
} from "../store/vectorize/vectors.ts";
import type { IndexRef } from "../types.ts";
import type { ImageModel } from "./image-model.ts";

/**
 * Finds vectors in an index's namespaces whose segments the index doesn't have. Vectorize can't
 * list vectors: queries the 100 nearest to an arbitrary vector, and to those of some segments. That
 * finds all orphans among few vectors, and among many those that are near existing ones.
 */
export async function findOrphanVectors(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<VectorId[]> {
  const { indexId } = index;
  const databases = indexDatabases(env, index);
  const first = await Promise.all(databases.map(listFirstSegments));
  const segmentIds = sampleEvenly(first.flat(), LIFECYCLE.probeCount);
  const nearest = await Promise.all(
    vectorPairs(env, index).flatMap(({ text, image }) => [
      listNearestToAny(text, indexId, segmentIds, "caption", [TEXT_PROBE]),
      listNearestToAny(image, indexId, segmentIds, "image", probesOf(imageModel)),
    ]),
  );
  const ids = nearest.flat();
  let unknown: string[] = [...new Set(ids.map(toSegmentId))];
  for (const db of databases) unknown = await listUnknownSegments(db, unknown);
  const orphaned = new Set(unknown);
  return ids.filter((id) => orphaned.has(toSegmentId(id)));
}

/**
 * Deletes the orphan vectors that queries find in an index. Returns whether there were any: then
 * there may be others behind them, which queries find once `vectorLagSeconds` have passed.
 */
export async function deleteOrphanVectors(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<boolean> {
  const ids = await findOrphanVectors(env, index, imageModel);
  for (const pair of vectorPairs(env, index)) await deleteVectorsOf(pair, ids);
  return ids.length > 0;
}

/** An arbitrary vector of the text model's space. */
const TEXT_PROBE = Array.from({ length: MODELS.embedText.dimensions }, () => 1);

function probesOf(imageModel: ImageModel): number[][] {
  return typeof imageModel === "object" ? [imageModel.values] : [];
}

/** Lists the vectors nearest to `probes` or to the vectors of some segments. */
async function listNearestToAny(
  space: VectorSpace,
  indexId: IndexId,
  segmentIds: SegmentId[],
  kind: "caption" | "image",
  probes: number[][],
): Promise<VectorId[]> {
  const queries = [...probes, ...(await getVectors(space, segmentIds, kind))];
  const found = await Promise.all(queries.map((values) => listNearestIds(space, indexId, values)));
  return [...new Set(found.flat())];
}

/** Selects at most `count` items at even distances. */
function sampleEvenly<Item>(items: Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}
