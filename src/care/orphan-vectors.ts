import { CARE, MODELS } from "../config.ts";
import type { IndexId, VectorId } from "../ids.ts";
import { listFirstSegments, listUnknownSegments } from "../store/orphans.ts";
import { deleteVectors, getVectors, listNearby, segmentOf } from "../store/vectors.ts";
import type { PictureSpace } from "./picture-space.ts";

type Spaces = Pick<Env, "DB" | "TEXT_VECTORS" | "PICTURE_VECTORS">;

/**
 * The ids of vectors in an index's namespaces whose segments it doesn't have. Vectorize can't list: the 100
 * nearest to an arbitrary vector, and to those of some segments, are looked at. So all are found where there
 * are few vectors; of many, those that are like what is there.
 */
export async function findOrphanVectors(
  env: Spaces,
  indexId: IndexId,
  space: PictureSpace,
): Promise<VectorId[]> {
  const segmentIds = spread(await listFirstSegments(env.DB, indexId), CARE.probes);
  const [texts, pictures] = await Promise.all([
    getVectors(env.TEXT_VECTORS, segmentIds, "caption"),
    getVectors(env.PICTURE_VECTORS, segmentIds, "picture"),
  ]);
  const [near, alike] = await Promise.all([
    listAround(env.TEXT_VECTORS, indexId, [ANYWHERE, ...texts]),
    listAround(env.PICTURE_VECTORS, indexId, [...anywhereIn(space), ...pictures]),
  ]);
  const ids = [...near, ...alike];
  const unknown = await listUnknownSegments(env.DB, indexId, [...new Set(ids.map(segmentOf))]);
  const gone = new Set(unknown);
  return ids.filter((id) => gone.has(segmentOf(id)));
}

/** Of an index without segments, all vectors that show go: what has been deleted may show for some seconds. */
export async function deleteOrphanVectors(
  env: Spaces,
  indexId: IndexId,
  space: PictureSpace,
): Promise<void> {
  const deleted = new Set<VectorId>();
  for (;;) {
    const found = await findOrphanVectors(env, indexId, space);
    const ids = found.filter((id) => !deleted.has(id));
    if (ids.length === 0) return;
    await deleteVectors(env.TEXT_VECTORS, ids);
    await deleteVectors(env.PICTURE_VECTORS, ids);
    for (const id of ids) deleted.add(id);
  }
}

/** A place in the text space like any other. */
const ANYWHERE = Array.from({ length: MODELS.embedText.dimensions }, () => 1);

function anywhereIn(space: PictureSpace): number[][] {
  return typeof space === "object" ? [space.values] : [];
}

async function listAround(
  space: VectorizeIndex,
  indexId: IndexId,
  places: number[][],
): Promise<VectorId[]> {
  const found = await Promise.all(places.map((values) => listNearby(space, indexId, values)));
  return [...new Set(found.flat())];
}

/** At most `count` of `items`, evenly taken. */
function spread<Item>(items: Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
}
