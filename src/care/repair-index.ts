import type { IndexId } from "../ids.ts";
import { deleteKeys } from "../store/media.ts";
import { deleteOrphanRows } from "../store/orphans.ts";
import { recountTallies } from "../store/tallies.ts";
import type { Finding, IndexFindingCode } from "./findings.ts";
import { deleteOrphanVectors } from "./orphan-vectors.ts";
import type { PictureSpace } from "./picture-space.ts";

/** Makes good what a finding of an index is about. May run twice. */
export async function repairIndex(
  env: Env,
  indexId: IndexId,
  space: PictureSpace,
  { code, about }: Finding<IndexFindingCode>,
): Promise<void> {
  if (code === "counts_wrong") await recountTallies(env.DB, indexId);
  else if (code === "objects_orphaned") await deleteKeys(env.MEDIA, about);
  else if (code === "vectors_orphaned") await deleteOrphanVectors(env, indexId, space);
  else await deleteOrphanRows(env.DB, indexId);
}
