import { AppError } from "../errors.ts";
import type { IndexId } from "../ids.ts";
import { listUnknownAssets, requireAsset } from "../store/d1/assets.ts";
import { requireIndex } from "../store/d1/indices.ts";
import type { AssetType, MediaIndexRow } from "../types.ts";
import type { Context } from "./context.ts";

/** Returns the caller's index. Throws `not_found`, also for another account's index. */
export function requireCallerIndex(c: Context, name: string): Promise<MediaIndexRow> {
  return requireIndex(c.env.DB, c.get("caller").accountId, name);
}

/** Returns the caller's asset in the path's index. Throws `not_found`. */
export async function requireCallerAsset(c: Context, type: AssetType, assetId: string) {
  const { indexId } = await requireCallerIndex(c, c.req.param("index_name")!);
  return requireAsset(c.env.DB, indexId, type, assetId);
}

/** Throws `not_found` with the first id that is not in the index. */
export async function requireAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  const [unknown] = await listUnknownAssets(db, indexId, ids);
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no asset "${unknown}" in this index.`);
  }
}
