import { INGEST } from "../../config.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { listSegments } from "../../store/index-database/segments.ts";
import type { Asset, Segment } from "../../types.ts";

/** Lists the segments of one part of a step, in order. */
export function listSegmentsOfPart(
  env: Pick<Env, "INDEX_DATABASE">,
  asset: Asset,
  part: number,
): Promise<Segment[]> {
  const from = part * INGEST.segmentsPerPart;
  return listSegments(
    indexDatabase(env, asset),
    asset.assetId,
    from,
    from + INGEST.segmentsPerPart,
  );
}
