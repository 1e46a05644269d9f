import { WATCHES } from "../parameters.ts";
import type { NamedWatch } from "../store/d1/watches.ts";
import type { StoredMatch } from "../store/index-database/matches.ts";
import type { AssetType } from "../types.ts";

/** Data of `watch.matched`: the segments of one asset that match a watch, the best first. */
export interface MatchEventData {
  watch_id: string;
  watch_name: string;
  asset_id: string;
  asset_type: AssetType;
  title: string;
  /** Matches of the asset, of which `matches` has the best. */
  total: number;
  matches: {
    segment_id: string;
    start_seconds: number | null;
    end_seconds: number | null;
    score: number;
    evidence: unknown;
  }[];
  /** Paths of the API. */
  links: { asset: string; matches: string };
}

/** An event, and the URL that it is sent to; null: the webhook of the index. */
export interface MatchEvent {
  data: MatchEventData;
  url: string | null;
}

/** Makes an event of the matches of each watch in each asset. Leaves out deleted watches. */
export function toMatchEvents(
  matches: readonly StoredMatch[],
  watches: readonly NamedWatch[],
): MatchEvent[] {
  const byId = new Map(watches.map((watch) => [watch.watchId, watch]));
  const batches = Map.groupBy(matches, ({ watchId, assetId }) => `${watchId} ${assetId}`);
  return [...batches.values()].flatMap((batch) => {
    const [{ watchId, assetId, assetType, title }] = batch as [StoredMatch];
    const watch = byId.get(watchId);
    if (!watch) return [];
    const index = `/index/${watch.indexName}`;
    const best = batch.toSorted((a, b) => b.score - a.score).slice(0, WATCHES.eventMatches);
    const data: MatchEventData = {
      watch_id: watchId,
      watch_name: watch.name,
      asset_id: assetId,
      asset_type: assetType,
      title,
      total: batch.length,
      matches: best.map(({ segmentId, startMs, endMs, score, details }) => ({
        segment_id: segmentId,
        start_seconds: startMs === null ? null : startMs / 1000,
        end_seconds: endMs === null ? null : endMs / 1000,
        score,
        evidence: details["evidence"],
      })),
      links: {
        asset: `${index}/${assetType}/${assetId}`,
        matches: `${index}/watches/${watchId}/matches`,
      },
    };
    return [{ data, url: watch.webhookUrl }];
  });
}
