import type { AssetId } from "../../ids.ts";
import type { Asset, Segment } from "../../types.ts";
import { inChunks, sql, type SqlFragment } from "../sql.ts";
import type { IndexDb } from "./index-database.ts";

/** Writes the transcripts of segments, unless the asset has a newer transcript in the meantime. */
export async function updateTranscripts(
  db: IndexDb,
  { assetId, transcriptRevision }: Pick<Asset, "assetId" | "transcriptRevision">,
  segments: Pick<Segment, "segmentId" | "transcript">[],
): Promise<void> {
  for (const chunk of inChunks(segments)) {
    await db.batch([setTranscripts(chunk, ofTranscript(assetId, transcriptRevision))]);
  }
}

/** Statement that writes the transcripts of a JSON array of segments that are `isCurrent`. */
export function setTranscripts(chunk: string, isCurrent: SqlFragment): SqlFragment {
  return sql`UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(${chunk})
    WHERE segment_id = value ->> 'segmentId' AND ${isCurrent}`;
}

/**
 * Condition for the segments of an asset, unless its transcript is newer than `revision`. Filters
 * segments that are found by their ids: found by their asset, each would read the ids again.
 */
export function ofTranscript(assetId: AssetId, revision: number): SqlFragment {
  return sql`+asset_key = (SELECT asset_key FROM assets
    WHERE asset_id = ${assetId} AND transcript_revision <= ${revision})`;
}
