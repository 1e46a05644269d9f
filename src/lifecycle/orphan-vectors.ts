import { LIFECYCLE, MODELS } from "../config.ts";
import type { IndexId, SegmentId, VectorId } from "../ids.ts";
import { indexDatabases } from "../store/index-database.ts";
import { listFirstSegments, listUnknownSegments } from "../store/orphans.ts";
import { vectorPairs } from "../store/vector-pairs.ts";
import { deleteVectors, getVectors, listNearestIds, toSegmentId } from "../store/vectors.ts";
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
 * Deletes the orphan vectors of an index, until a query returns no new ones: if the index has no
 * segments, that is all of its vectors. Queries return deleted vectors for some seconds.
 */
export async function deleteOrphanVectors(
  env: Env,
  index: IndexRef,
  imageModel: ImageModel,
): Promise<void> {
  const deleted = new Set<VectorId>();
  for (;;) {
    const found = await findOrphanVectors(env, index, imageModel);
    const ids = found.filter((id) => !deleted.has(id));
    if (ids.length === 0) return;
    for (const { text, image } of vectorPairs(env, index)) {
      await deleteVectors(text, ids);
      await deleteVectors(image, ids);
    }
    for (const id of ids) deleted.add(id);
  }
}

/** An arbitrary vector of the text model's space. */
const TEXT_PROBE = Array.from({ length: MODELS.embedText.dimensions }, () => 1);

function probesOf(imageModel: ImageModel): number[][] {
  return typeof imageModel === "object" ? [imageModel.values] : [];
}

/** Lists the vectors nearest to `probes` or to the vectors of some segments. */
async function listNearestToAny(
  space: VectorizeIndex,
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
