import { cleanTitle } from "../asset-names.ts";
import { AppError, isNotFound } from "../errors.ts";
import { newId } from "../ids.ts";
import { type NotTaken, duplicateWarnings } from "../ingest/duplicate.ts";
import { getAsset, getAssetByBytes, insertAsset } from "../store/d1/assets.ts";
import { releaseAllBytes, requireQuota, runRelease } from "../store/d1/quotas.ts";
import { listShards } from "../store/d1/shards.ts";
import {
  type Upload,
  type UploadTarget,
  setUploadResult,
  completeMultipart,
  removeUpload,
} from "../store/d1/uploads.ts";
import { indexObject } from "../store/index-object.ts";
import { assetPrefix, deletePrefix, uploadPrefix } from "../store/r2/object-keys.ts";
import type { StoredStream } from "../store/r2/streams.ts";
import { putTranscript } from "../store/transcripts.ts";
import type { Asset, AssetType, Cue, MediaIndexRow, Shard } from "../types.ts";
import { purgeAsset } from "./purge.ts";

export type AssetIdentity = Pick<
  Asset,
  "assetId" | "indexId" | "accountId" | "assetType" | keyof Shard
>;

interface NewAssetDescription
  extends Pick<Asset, "title" | "source" | "metadata">, Partial<Pick<Asset, "warnings">> {
  /** Folder of the file, with `/`; a fact of it. */
  folder?: string;
}

/** Makes the record of a new asset. `file` is undefined until the asset's file is stored. */
export function newAsset(
  identity: AssetIdentity,
  index: Pick<MediaIndexRow, "name" | "settings">,
  file: StoredStream | undefined,
  { folder, ...description }: NewAssetDescription,
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
    technical: folder ? { folder } : {},
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
      await runRelease(env.DB, releaseAllBytes([asset.assetId]));
      const companions = { metadata: asset.metadata, hasTranscript: transcript !== undefined };
      const notTaken = duplicateWarnings(existing, companions);
      return { asset: existing, duplicate: true, notTaken };
    }
    return { asset: await ensureStarted(env, existing), duplicate: false, notTaken: [] };
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
async function ensureStarted(env: Env, asset: Asset): Promise<Asset> {
  if (asset.state === "queued") await start(env, asset);
  return asset;
}

async function start(env: Env, asset: Asset): Promise<void> {
  const { indexId, assetId, assetType, jobId, indexName } = asset;
  const started = await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  if (started === "ok") return;
  await purgeAsset(env, asset);
  throw new AppError("not_found", `There is no index named "${indexName}".`);
}

/**
 * Makes an asset of a completely received upload and starts its ingest. Repeating it finishes an
 * interrupted run. Throws `limit_reached` and `account_full`, after which a retry may succeed, and
 * `not_found` if the upload or its index was deleted meanwhile.
 */
export async function completeUpload(env: Env, upload: Upload): Promise<Upload> {
  const { uploadId, indexId, target, sha256, resultAssetId } = upload;
  if (resultAssetId !== null || sha256 === null || target === null) return upload;
  const existing = await getAsset(env.DB, target.assetId);
  const asset = await (
    existing ? ensureStarted(env, existing) : storeAsset(env, upload, target, sha256)
  ).catch(async (error: unknown) => {
    if (isNotFound(error)) await removeUpload(env, upload);
    throw error;
  });
  if (!(await setUploadResult(env.DB, uploadId, asset.assetId))) {
    const isNew = asset.assetId === target.assetId && !existing;
    if (isNew) await purgeAsset(env, asset);
    throw new AppError("not_found", "The upload was ended meanwhile.");
  }
  await deletePrefix(env.MEDIA, uploadPrefix(indexId, uploadId));
  return { ...upload, resultAssetId: asset.assetId };
}

async function storeAsset(env: Env, upload: Upload, target: UploadTarget, sha256: string) {
  const { accountId, indexId, indexName: name, settings, title, folder, metadata } = upload;
  const { assetId, assetType, contentType } = target;
  await requireQuota(env.DB, accountId, {
    ...quotaFor(assetType),
    stored_bytes: 0, // the usage includes those of the upload
  });
  await completeMultipart(env, upload, target);
  const shard = (await listShards(env.DB, indexId)).at(-1);
  if (!shard) throw new AppError("not_found", `There is no index named "${name}".`);
  const created = newAsset(
    { assetId, indexId, accountId, assetType, ...shard },
    { name, settings },
    { contentType, sizeBytes: upload.received, sha256 },
    { title: title ?? assetId, folder, source: { kind: "upload" }, metadata },
    Date.now(),
  );
  const { asset } = await createAsset(env, created, { reserved: upload.received });
  return asset;
}
