import { CARE } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { listAssets } from "../store/assets.ts";
import type { Page, PageRequest } from "../store/rows.ts";
import type { Asset } from "../types.ts";

/**
 * The next assets of a walk, in a stable order: as many as can be looked at in one request, so that a page
 * ends with the asset that has the `CARE.pageSegments`th segment.
 */
export async function nextAssets(
  db: D1Database,
  indexId: IndexId,
  request: PageRequest,
): Promise<Page<Asset>> {
  const page = await listAssets(db, indexId, {}, request);
  let segments = 0;
  const last = page.items.findIndex((asset) => (segments += asset.segments) >= CARE.pageSegments);
  if (last === -1 || last === page.items.length - 1) return page;
  return { ...page, items: page.items.slice(0, last + 1), next: page.items[last]!.assetId };
}
