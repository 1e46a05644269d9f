import type { Asset, Segment, SightlineIndex } from "../../index.ts";
import { MissingError } from "../failure.ts";

/** Finds segments by their ids, in their order. Throws if one isn't in the index. */
export async function findSegments(
  index: SightlineIndex,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Segment[]> {
  const found = new Map<string, Segment>();
  const assets: Asset[] = [];
  for await (const asset of index.assets({ limit: 100 }, { signal })) assets.push(asset);
  for (const { asset_id, asset_type } of likelyFirst(assets, ids)) {
    if (ids.every((id) => found.has(id))) break;
    if (asset_type !== "video") continue;
    for await (const segment of index.videos.segments(asset_id, { limit: 100 }, { signal })) {
      if (ids.includes(segment.segment_id)) found.set(segment.segment_id, segment);
    }
  }
  return ids.map((id) => {
    const segment = found.get(id);
    if (segment) return segment;
    throw new MissingError(`There is no segment ${id} of a video in the index ${index.name}.`);
  });
}

/** Sorts assets first whose id begins with the time of creation in a segment's id. */
function likelyFirst(assets: Asset[], segmentIds: readonly string[]): Asset[] {
  const times = new Set(segmentIds.map((id) => id.slice(4, 14)));
  const isLikely = ({ asset_id }: Asset) => times.has(asset_id.slice(4, 14));
  return [...assets.filter(isLikely), ...assets.filter((asset) => !isLikely(asset))];
}
