import { LIFECYCLE, MODELS } from "../config.ts";
import type { IndexId, VectorId } from "../ids.ts";
import { indexDatabases } from "../store/index-database.ts";
import { listFirstSegments, listUnknownSegments } from "../store/orphans.ts";
import { deleteVectors, getVectors, listNearestIds, toSegmentId } from "../store/vectors.ts";
import type { IndexRef } from "../types.ts";
import type { ImageModel } from "./image-model.ts";

type VectorEnv = Pick<Env, "INDEX_DATABASE" | "TEXT_VECTORS" | "IMAGE_VECTORS">;

/**
 * Finds vectors in an index's namespaces whose segments the index doesn't have. Vectorize can't
 * list vectors: queries the 100 nearest to an arbitrary vector, and to those of some segments. That
 * finds all orphans among few vectors, and among many those that are near existing ones.
 */
export async function findOrphanVectors(
  env: VectorEnv,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<VectorId[]> {
  const { indexId } = index;
  const databases = indexDatabases(env, index);
  const first = await Promise.all(databases.map(listFirstSegments));
  const segmentIds = sampleEvenly(first.flat(), LIFECYCLE.probeCount);
  const [textVectors, imageVectors] = await Promise.all([
    getVectors(env.TEXT_VECTORS, segmentIds, "caption"),
    getVectors(env.IMAGE_VECTORS, segmentIds, "image"),
  ]);
  const [textIds, imageIds] = await Promise.all([
    listNearestToAny(env.TEXT_VECTORS, indexId, [TEXT_PROBE, ...textVectors]),
    listNearestToAny(env.IMAGE_VECTORS, indexId, [...probesOf(imageModel), ...imageVectors]),
  ]);
  const ids = [...textIds, ...imageIds];
  let unknown: string[] = [...new Set(ids.map(toSegmentId))];
  for (const db of databases) unknown = await listUnknownSegments(db, unknown);
  const orphaned = new Set(unknown);
  return ids.filter((id) => orphaned.has(toSegmentId(id)));
}

/**
 * Deletes the orphan vectors of an index, until a query returns no new ones: if the index has no
 * segments, that is all of its vectors. Queries return deleted vectors for some seconds.
 */
export async function deleteOrphanVectors(
  env: VectorEnv,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<void> {
  const deleted = new Set<VectorId>();
  for (;;) {
    const found = await findOrphanVectors(env, index, imageModel);
    const ids = found.filter((id) => !deleted.has(id));
    if (ids.length === 0) return;
    await deleteVectors(env.TEXT_VECTORS, ids);
    await deleteVectors(env.IMAGE_VECTORS, ids);
    for (const id of ids) deleted.add(id);
  }
}

/** An arbitrary vector of the text model's space. */
const TEXT_PROBE = Array.from({ length: MODELS.embedText.dimensions }, () => 1);

function probesOf(imageModel: ImageModel): number[][] {
  return typeof imageModel === "object" ? [imageModel.values] : [];
}

async function listNearestToAny(
  space: VectorizeIndex,
  indexId: IndexId,
  queries: number[][],
): Promise<VectorId[]> {
  const found = await Promise.all(queries.map((values) => listNearestIds(space, indexId, values)));
  return [...new Set(found.flat())];
}

/** Selects at most `count` items at even distances. */
function sampleEvenly<Item>(items: Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}
