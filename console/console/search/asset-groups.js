/**
 * Groups entries `{ hit }` by the asset of their hits: the asset of the best hit first, and the hits
 * of an asset by time.
 */
export function groupByAsset(entries) {
  const groups = new Map();
  for (const entry of entries) {
    const { asset_id: id } = entry.hit;
    groups.set(id, [...(groups.get(id) ?? []), entry]);
  }
  return [...groups.values()].map((group) => group.toSorted(byTime));
}

function byTime(a, b) {
  return (a.hit.start_seconds ?? 0) - (b.hit.start_seconds ?? 0);
}
