import { LIFECYCLE } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { segmentId as segmentIdOf } from "../../ids.ts";
import { countWindows } from "../../ingest/segmentation/windows.ts";
import { transcriptBySegment } from "../../ingest/steps/align-transcript.ts";
import { archiveAsset, isArchived } from "../../store/archive.ts";
import {
  insertArchivedSegments,
  type RestoredSegment,
} from "../../store/index-database/archived-rows.ts";
import { indexDatabase } from "../../store/index-database/index-database.ts";
import { putFrameSignatures } from "../../store/index-database/signatures.ts";
import { archivedCues, type ArchiveRecord } from "../../store/r2/archive-record.ts";
import { getArchivedSignatures } from "../../store/r2/frame-signatures.ts";
import {
  archiveKey,
  headObject,
  type StoredObject,
  transcriptKey,
} from "../../store/r2/object-keys.ts";
import { putCues } from "../../store/transcripts.ts";
import type { Asset } from "../../types.ts";
import type { Finding } from "../findings.ts";
import type { Repair } from "../repair-context.ts";

/** Checks that the archive record is in R2, and has what was changed some minutes ago. */
export async function inspectArchive(
  { DB }: Pick<Env, "DB">,
  asset: Asset,
  objects: StoredObject[],
  now: number,
): Promise<Finding[]> {
  const isStored = objects.some(({ key }) => key === archiveKey(asset));
  if (isStored && (await isArchived(DB, asset, now - LIFECYCLE.archiveSettledMs))) return [];
  const message = isStored ? "The archive record is outdated." : "The archive record is gone.";
  return [{ code: "archive_outdated", message, about: [] }];
}

/** Writes the archive record again. Throws `internal` while segments or cues are missing. */
export const rewriteArchive: Repair = async ({ env, asset }) => {
  if (await archiveAsset(env, asset)) return null;
  throw new AppError("internal", "Segments or cues are missing, or change: see other findings.");
};

/**
 * Inserts the segments that an archive record has and the index's database hasn't, with their full
 * text and the signatures of frames. Signatures of keyframes and vectors are the work of others.
 */
export async function restoreSegments(
  env: Env,
  asset: Asset,
  record: ArchiveRecord,
): Promise<void> {
  await restoreCues(env, asset, record);
  const db = indexDatabase(env, asset);
  const segments = await toSegments(asset, record);
  await insertArchivedSegments(db, asset, segments, Date.now());
  if (asset.assetType === "image") return;
  for (let window = 0; window < countWindows(asset); window++) {
    const archived = await getArchivedSignatures(env.MEDIA, asset, window);
    const signatures = archived.flatMap(({ position, ms, hashes, luma_thumbnail }) => {
      const lumaThumbnail = new Uint8Array(Buffer.from(luma_thumbnail, "base64"));
      const segment = segments[position];
      if (!segment) return [];
      return [{ segmentId: segment.segment_id, ms, signature: { hashes, lumaThumbnail } }];
    });
    const ids = [...new Set(signatures.map(({ segmentId }) => segmentId))];
    await putFrameSignatures(db, ids, signatures);
  }
}

/** Stores the record's cues if there are none: segments get their text from them. */
async function restoreCues(env: Env, asset: Asset, record: ArchiveRecord): Promise<void> {
  const cues = archivedCues(record);
  if (cues.length === 0) return;
  const key = transcriptKey(asset, asset.transcriptJobId);
  if (await headObject(env.MEDIA, key)) return;
  await putCues(env.MEDIA, asset, cues, asset.transcriptJobId);
}

async function toSegments(asset: Asset, record: ArchiveRecord): Promise<RestoredSegment[]> {
  const segments = await Promise.all(
    record.segments.map(async (segment, position) => ({
      ...segment,
      segment_id: await segmentIdOf(asset.assetId, position),
      transcript: "",
    })),
  );
  if (asset.assetType === "image") return segments;
  const ranges = segments.map(({ segment_id, start_ms, end_ms }) => {
    return { segmentId: segment_id, startMs: start_ms, endMs: end_ms };
  });
  const texts = transcriptBySegment(asset, ranges, archivedCues(record));
  for (const [i, segment] of segments.entries()) segment.transcript = texts[i]!.transcript;
  return segments;
}
