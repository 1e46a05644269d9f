import { LIFECYCLE } from "../config.ts";
import type { IndexId } from "../ids.ts";
import { listAssets } from "../store/d1/assets.ts";
import type { Page, PageRequest } from "../store/sql.ts";
import type { Asset } from "../types.ts";

/**
 * Lists the next assets of a traversal, in a stable order. A page ends early with the asset that
 * brings the segments to `LIFECYCLE.maxPageSegments`, so that one request can inspect them all.
 */
export async function listTraversalPage(
  db: D1Database,
  indexId: IndexId,
  request: PageRequest,
): Promise<Page<Asset>> {
  const page = await listAssets(db, indexId, {}, request);
  let segmentCount = 0;
  const last = page.items.findIndex(
    (asset) => (segmentCount += asset.segments) >= LIFECYCLE.maxPageSegments,
  );
  if (last === -1 || last === page.items.length - 1) return page;
  return { ...page, items: page.items.slice(0, last + 1), next: page.items[last]!.assetId };
}
