import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import { listUnknownAssets, requireAsset } from "../store/d1/assets.ts";
import { requireIndex } from "../store/d1/indices.ts";
import type { AssetType, MediaIndexRow } from "../types.ts";
import type { Context } from "./context.ts";
import { setIndex } from "./pagination.ts";

/**
 * Returns the index that the path names. Throws `not_found`, also for another account's index, and
 * a `ValidationError` for a cursor of another index.
 */
export async function requireCallerIndex(c: Context): Promise<MediaIndexRow> {
  const name = c.req.param("index_name")!;
  const index = await requireIndex(c.env.DB, c.get("caller").accountId, name);
  setIndex(c, index.indexId);
  return index;
}

/** Returns the asset that the path names. Throws `not_found`. */
export async function requireCallerAsset(c: Context, type: AssetType) {
  const { indexId } = await requireCallerIndex(c);
  return requireAsset(c.env.DB, indexId, type, c.req.param(`${type}_id`)!);
}

/** Throws `not_found` with the first id that is not in the index. */
export async function requireAssets(db: D1Database, indexId: IndexId, ids: string[]) {
  if (ids.length === 0) return;
  const [unknown] = await listUnknownAssets(db, indexId, ids);
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no asset "${unknown}" in this index.`);
  }
}
