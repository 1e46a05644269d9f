import { AppError } from "../errors.ts";
import { getAsset } from "../store/assets.ts";
import { requireRoom } from "../store/limits.ts";
import { deletePrefix, uploadPrefix } from "../store/media.ts";
import { completeWhole, removeUpload } from "../store/upload-objects.ts";
import { noteBecame, type Target, type Upload } from "../store/uploads.ts";
import type { Asset } from "../types.ts";
import { admitAsset, ensureStarted, newAsset, roomFor } from "./new-asset.ts";
import { purgeAsset } from "./purge.ts";

/**
 * Makes an asset of an upload of which all has come, and starts its ingest; again, it ends what was cut off.
 * Throws `limit_reached` and `account_full` as `requireRoom` does, and then it can be done later; `not_found`
 * where it or its index was removed meanwhile.
 */
export async function finishUpload(env: Env, upload: Upload): Promise<Upload> {
  const { uploadId, indexId, target, sha256, became } = upload;
  if (became !== null || sha256 === null || target === null) return upload;
  const known = await getAsset(env.DB, target.assetId);
  const asset = await (known ? startAgain(env, known) : admit(env, upload, target, sha256)).catch(
    async (error: unknown) => {
      if (isNotFound(error)) await removeUpload(env, upload);
      throw error;
    },
  );
  if (!(await noteBecame(env.DB, uploadId, asset.assetId))) {
    const isNew = asset.assetId === target.assetId && !known;
    if (isNew) await purgeAsset(env, upload, target.assetId);
    throw new AppError("not_found", "The upload was ended meanwhile.");
  }
  await deletePrefix(env.MEDIA, uploadPrefix(indexId, uploadId));
  return { ...upload, became: asset.assetId };
}

async function startAgain(env: Env, asset: Asset): Promise<Asset> {
  await ensureStarted(env, asset);
  return asset;
}

async function admit(env: Env, upload: Upload, target: Target, sha256: string): Promise<Asset> {
  const { accountId, indexId, indexName: name, settings, title, metadata } = upload;
  const { assetId, assetType, contentType } = target;
  await requireRoom(env.DB, accountId, {
    ...roomFor(assetType),
    stored_bytes: 0, // its own are counted
  });
  await completeWhole(env, upload, target);
  const made = newAsset(
    { assetId, indexId, accountId, assetType },
    { name, settings },
    { contentType, sizeBytes: upload.received, sha256 },
    { title: title ?? assetId, source: { kind: "upload" }, metadata },
    Date.now(),
  );
  const { asset } = await admitAsset(env, made, { reserved: upload.received });
  return asset;
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found";
}
