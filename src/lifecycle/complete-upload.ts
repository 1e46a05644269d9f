import { AppError } from "../errors.ts";
import { getAsset } from "../store/d1/assets.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { listShards } from "../store/d1/shards.ts";
import { setUploadResult, type UploadTarget, type Upload } from "../store/d1/uploads.ts";
import { deletePrefix, uploadPrefix } from "../store/r2/object-keys.ts";
import { completeMultipart, removeUpload } from "../store/stored-uploads.ts";
import type { Asset } from "../types.ts";
import { createAsset, ensureStarted, newAsset, quotaFor } from "./create-asset.ts";
import { purgeAsset } from "./purge.ts";

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
    existing ? resumeIngest(env, existing) : storeAsset(env, upload, target, sha256)
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

async function resumeIngest(env: Env, asset: Asset): Promise<Asset> {
  await ensureStarted(env, asset);
  return asset;
}

async function storeAsset(
  env: Env,
  upload: Upload,
  target: UploadTarget,
  sha256: string,
): Promise<Asset> {
  const { accountId, indexId, indexName: name, settings, title, metadata } = upload;
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
    { title: title ?? assetId, source: { kind: "upload" }, metadata },
    Date.now(),
  );
  const { asset } = await createAsset(env, created, { reserved: upload.received });
  return asset;
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found";
}
