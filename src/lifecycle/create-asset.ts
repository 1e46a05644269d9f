import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import { duplicateWarnings, type NotTaken } from "../ingest/duplicate.ts";
import { getAssetByBytes, insertAsset } from "../store/d1/assets.ts";
import { releaseAllBytes } from "../store/d1/object-bytes.ts";
import { indexObject } from "../store/index-object.ts";
import { assetPrefix, deletePrefix } from "../store/r2/object-keys.ts";
import type { StoredStream } from "../store/r2/streams.ts";
import { putTranscript } from "../store/transcripts.ts";
import { cleanTitle } from "../title.ts";
import type { Asset, AssetType, Cue, MediaIndexRow, Shard } from "../types.ts";
import { purgeAsset } from "./purge.ts";

export type AssetIdentity = Pick<
  Asset,
  "assetId" | "indexId" | "accountId" | "assetType" | keyof Shard
>;

/** Makes the record of a new asset. `file` is undefined until the asset's file is stored. */
export function newAsset(
  identity: AssetIdentity,
  index: Pick<MediaIndexRow, "name" | "settings">,
  file: StoredStream | undefined,
  description: Pick<Asset, "title" | "source" | "metadata"> & Partial<Pick<Asset, "warnings">>,
  now: number,
): Asset {
  return {
    ...identity,
    warnings: [],
    ...description,
    indexName: index.name,
    title: cleanTitle(description.title) || identity.assetId,
    state: "queued",
    progress: 0,
    error: null,
    contentType: file?.contentType ?? null,
    sizeBytes: file?.sizeBytes ?? 0,
    sha256: file?.sha256 ?? null,
    width: null,
    height: null,
    durationMs: 0,
    fps: null,
    hasAudio: null,
    language: (index.settings["language"] as string | undefined) ?? null,
    technical: {},
    keyframeMs: null,
    segments: 0,
    jobId: newId("job", now),
    transcriptJobId: null,
    transcriptRevision: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Usage that a new asset adds, besides its bytes. A video counts as one second, because its
 * duration isn't known before the probe.
 */
export function quotaFor(assetType: AssetType) {
  const perDay =
    assetType === "video" ? { ingest_minutes_per_day: 1 / 60 } : { ingest_images_per_day: 1 };
  return { concurrent_ingests: 1, ...perDay };
}

export interface CreatedAsset {
  asset: Asset;
  /** Whether the index had an asset with the same bytes; `asset` is that one. */
  duplicate: boolean;
  /** What came with a duplicate and wasn't taken. */
  notTaken: NotTaken[];
}

interface CreateOptions {
  transcript?: { cues: Cue[]; language: string | null; isFrameBased?: boolean } | undefined;
  /** Bytes of the file that the account's usage includes already. */
  reserved?: number;
}

/**
 * Inserts an asset and starts its ingest. If the index has an asset with the same bytes, deletes
 * the new file and returns that asset. Throws what `insertAsset` throws, and `not_found`, after
 * purging the asset, if the index is being deleted.
 */
export async function createAsset(
  env: Env,
  asset: Asset,
  { transcript, reserved = 0 }: CreateOptions = {},
): Promise<CreatedAsset> {
  if (!(await insertAsset(env.DB, asset, reserved))) {
    const existing = await getAssetByBytes(env.DB, asset.indexId, asset.sha256!);
    // deleted since the insert
    if (!existing) return createAsset(env, asset, { transcript, reserved });
    if (existing.assetId !== asset.assetId) {
      await deletePrefix(env.MEDIA, assetPrefix(asset));
      await releaseAllBytes(env.DB, [asset.assetId]);
      const companions = { metadata: asset.metadata, hasTranscript: transcript !== undefined };
      return {
        asset: existing,
        duplicate: true,
        notTaken: duplicateWarnings(existing, companions),
      };
    }
    await ensureStarted(env, existing);
    return { asset: existing, duplicate: false, notTaken: [] };
  }
  if (transcript) {
    const language = transcript.language ?? asset.language;
    const summary = { source: "upload", language, error: null } as const;
    await putTranscript(env, asset, transcript.cues, summary, transcript.isFrameBased);
  }
  await start(env, asset);
  return { asset, duplicate: false, notTaken: [] };
}

/** Starts the ingest of an inserted asset if it is queued. Throws `not_found` as `createAsset`. */
export async function ensureStarted(env: Env, asset: Asset): Promise<void> {
  if (asset.state === "queued") await start(env, asset);
}

async function start(env: Env, asset: Asset): Promise<void> {
  const { indexId, assetId, assetType, jobId, indexName } = asset;
  const started = await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  if (started === "ok") return;
  await purgeAsset(env, asset);
  throw new AppError("not_found", `There is no index named "${indexName}".`);
}
