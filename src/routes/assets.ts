import { z } from "@hono/zod-openapi";
import type { Context } from "../http/context.ts";
import { userMetadata } from "../http/json-object.ts";
import { nextCursor, pageRequest } from "../http/pagination.ts";
import { jsonText } from "../http/query-params.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { withWaitUntil } from "../http/wait-until.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { updateAsset } from "../store/asset-changes.ts";
import { listAssets, requireAsset } from "../store/assets.ts";
import { softDeleteAsset } from "../store/deletions.ts";
import { indexObject } from "../store/index-object.ts";
import { startJob } from "../store/jobs.ts";
import { requireQuota } from "../store/quotas.ts";
import type { Asset, AssetType } from "../types.ts";
import { cleanTitle } from "../title.ts";
import { addAsset } from "./add-asset.ts";
import { toAssetRecord } from "./asset-record.ts";
import { requireCallerIndex } from "./indices.ts";

/** Multipart field with metadata as a JSON text. */
export const metadataText = jsonText(userMetadata)
  .describe(
    "Metadata of the asset: a JSON object as text, at most 64 KiB. Searches can filter by it.",
  )
  .openapi({ example: "{}" });

/** Body of a request that updates an asset. */
export const assetChange = z.object({
  title: z.string().max(300).overwrite(cleanTitle).min(1).optional().describe("New title."),
  metadata: userMetadata.optional().describe("New metadata, which replaces all of the old."),
});
export const ASSET_CHANGE_EXAMPLES = {
  metadata: { summary: "Set the metadata", value: { metadata: { year: 2026, camera: "A" } } },
};
type AssetChange = z.output<typeof assetChange>;

/** Returns the caller's asset in the path's index. Throws `not_found`. */
export async function requireCallerAsset(c: Context, type: AssetType, assetId: string) {
  const { indexId } = await requireCallerIndex(c, c.req.param("index_name")!);
  return requireAsset(c.env.DB, indexId, type, assetId);
}

/** Adds an asset from the request body or a URL, even if the client disconnects. */
export async function addCallerAsset(c: Context, type: AssetType, url: string | undefined) {
  const index = await requireCallerIndex(c, c.req.param("index_name")!);
  const adding = addAsset(c.env, c.req.raw, index, type, url);
  const { asset, duplicate, notTaken } = await withWaitUntil(c, adding);
  const record = await toAssetRecord(asset, createMediaUrlSigner(c));
  const warnings = [...record.warnings, ...notTaken];
  return { ...record, warnings, job_id: asset.jobId, duplicate };
}

/** Lists a page of the index's videos or images. */
export async function listCallerAssets(
  c: Context,
  type: AssetType,
  query: Parameters<typeof pageRequest>[0],
) {
  const { indexId } = await requireCallerIndex(c, c.req.param("index_name")!);
  const page = await listAssets(c.env.DB, indexId, { type }, pageRequest(query));
  const signUrl = createMediaUrlSigner(c);
  const records = await Promise.all(page.items.map((asset) => toAssetRecord(asset, signUrl)));
  return { records, total: page.total, next_cursor: nextCursor(page) };
}

/** Changes the title or metadata of an asset, and returns the updated record. */
export async function updateCallerAsset(c: Context, asset: Asset, change: AssetChange) {
  await updateAsset(c.env, asset, change, Date.now());
  return toAssetRecord(
    await requireCallerAsset(c, asset.assetType, asset.assetId),
    createMediaUrlSigner(c),
  );
}

/** Marks an asset as deleted, stops its ingest, and starts the job that purges its data. */
export async function deleteCallerAsset(c: Context, asset: Asset) {
  const { assetId, indexId, accountId, shard, vectorPair } = asset;
  const now = Date.now();
  const jobId = newId("job", now);
  const ref = { accountId, indexId, assetId, shard, vectorPair };
  const job: JobMessage = { kind: "delete_asset", jobId, ...ref };
  await softDeleteAsset(c.env, { indexId, assetId }, now);
  await indexObject(c.env, indexId).deleteAsset(assetId);
  await startJob(c.env, job, now);
  return { job_id: jobId, state: "queued" as const };
}

/**
 * Restarts the ingest of a failed asset, or starts a job that repairs a ready one with warnings,
 * which stays searchable. Throws `conflict` in any other state.
 */
export async function retryCallerAsset(c: Context, asset: Asset) {
  const { assetType, assetId, indexId, accountId } = asset;
  const hasWarnings = asset.state === "ready" && asset.warnings.length > 0;
  if (asset.state !== "failed" && !hasWarnings) {
    const state = asset.state === "ready" ? "ready without warnings" : asset.state;
    const message = `Only a ${assetType} that failed or has warnings can be retried; this is ${state}.`;
    throw new AppError("conflict", message);
  }
  if (hasWarnings) {
    const now = Date.now();
    const job = { kind: "repair", jobId: newId("job", now), accountId, indexId, assetId } as const;
    await startJob(c.env, job, now);
    return toAssetRecord(asset, createMediaUrlSigner(c));
  }
  await requireQuota(c.env.DB, accountId, { concurrent_ingests: 1 });
  await indexObject(c.env, indexId).start(indexId, assetId, assetType, asset.jobId);
  return toAssetRecord(await requireCallerAsset(c, assetType, assetId), createMediaUrlSigner(c));
}
