import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import { type Context, withWaitUntil } from "../http/context.ts";
import { userMetadata } from "../http/json-object.ts";
import { type FormFile, readForm, readSmallPart, missingFileError } from "../http/multipart.ts";
import { nextCursor, pageRequest } from "../http/pagination.ts";
import { jsonText } from "../http/query-params.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { validate, parseJson } from "../http/validation.ts";
import { newId, ASSET_PREFIX } from "../ids.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import {
  type CreatedAsset,
  createAsset,
  type AssetIdentity,
  newAsset,
  quotaFor,
} from "../lifecycle/create-asset.ts";
import { purgeAsset } from "../lifecycle/purge.ts";
import type { JobMessage } from "../messages.ts";
import { updateAsset } from "../store/asset-changes.ts";
import { listAssets } from "../store/d1/assets.ts";
import { getUnfinishedJob } from "../store/d1/jobs.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { softDeleteAssets } from "../store/deletions.ts";
import { indexObject } from "../store/index-object.ts";
import { startJob } from "../store/job-queue.ts";
import type { StoredStream } from "../store/r2/streams.ts";
import { cleanTitle, titleFromUrl } from "../title.ts";
import type { Asset, AssetType, JsonObject, MediaIndexRow } from "../types.ts";
import { toAssetRecord } from "./records/asset-record.ts";
import { parseEncodingLabel, parseTranscriptPart } from "./transcript-part.ts";

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
type AssetChangeBody = z.output<typeof assetChange>;

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
export async function updateCallerAsset(c: Context, asset: Asset, change: AssetChangeBody) {
  await updateAsset(c.env, asset, change, Date.now());
  return toAssetRecord(
    await requireCallerAsset(c, asset.assetType, asset.assetId),
    createMediaUrlSigner(c),
  );
}

/**
 * Marks an asset as deleted, stops its ingest, and starts the job that purges its data, unless one
 * does.
 */
export async function deleteCallerAsset(c: Context, asset: Asset) {
  const { assetId, indexId, accountId, shard, vectorPair } = asset;
  const unfinished = await getUnfinishedJob(c.env.DB, assetId, "delete_asset");
  if (unfinished) return { job_id: unfinished, state: "queued" as const };
  const now = Date.now();
  const jobId = newId("job", now);
  const ref = { accountId, indexId, assetId, shard, vectorPair };
  const job: JobMessage = { kind: "delete_asset", jobId, ...ref };
  await softDeleteAssets(c.env, [{ indexId, assetId }], now);
  await indexObject(c.env, indexId).deleteAsset(assetId);
  await startJob(c.env, job, now, "none");
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

/** Parts of a request that adds an asset, unparsed but for the stored file. */
interface RequestParts {
  file?: StoredStream & { title: string };
  /** URLs in the query string and in the form. */
  urls: string[];
  isUrlInForm: boolean;
  /** How many files were sent. Only the first is stored, and none beside a URL in the query. */
  fileCount: number;
  transcript?: Uint8Array;
  /** A label of the transcript's encoding. */
  encoding?: string | undefined;
  /** Whether the transcript was sent as a text field, which is UTF-8. */
  isTranscriptText?: true;
  metadata?: string | Uint8Array;
  /** Error of a file part that was sent as text. */
  fileError?: ValidationError;
}

/**
 * Adds a video or an image to an index, from a file that is streamed to R2 as it arrives or from a
 * URL in the query string (`queryUrl`) or in the form, and starts its ingest. A file whose bytes
 * the index already has results in the existing asset. Throws `limit_reached` and `account_full`,
 * before the body is read if `Content-Length` allows it.
 */
async function addAsset(
  env: Env,
  request: Request,
  index: MediaIndexRow,
  assetType: AssetType,
  queryUrl: string | undefined,
): Promise<CreatedAsset> {
  const now = Date.now();
  const identity = {
    assetId: newId(ASSET_PREFIX[assetType], now),
    indexId: index.indexId,
    accountId: index.accountId,
    assetType,
    ...index.shards.at(-1)!,
  };
  await requireQuota(env.DB, index.accountId, {
    ...quotaFor(assetType),
    stored_bytes: Number(request.headers.get("content-length") ?? 1),
  });
  try {
    const parts = await readRequestParts(env, request, identity, queryUrl);
    const { metadata, transcript } = await parseParts(parts, assetType, env.FETCH_ALLOW);
    const { file } = parts;
    const url = parts.urls[0]?.trim();
    const description = {
      title: file?.title ?? titleFromUrl(url!),
      source: url === undefined ? { kind: "upload" as const } : { kind: "url" as const, url },
      metadata,
      warnings: transcript?.warnings ?? [],
    };
    return await createAsset(env, newAsset(identity, index, file, description, now), {
      transcript,
    });
  } catch (error) {
    await purgeAsset(env, identity);
    throw error;
  }
}

/** Reads the multipart body and stores the file. Throws as `readForm` and `storeSource` do. */
async function readRequestParts(
  env: Env,
  request: Request,
  identity: AssetIdentity,
  queryUrl: string | undefined,
): Promise<RequestParts> {
  const isUrlInForm = queryUrl === undefined;
  const parts: RequestParts = { fileCount: 0, urls: isUrlInForm ? [] : [queryUrl], isUrlInForm };
  const hasBody = request.body !== null && request.headers.get("content-length") !== "0";
  if (!hasBody) return parts;
  const fileField = `${identity.assetType}_file`;
  const fields = await readForm(request, async (part: FormFile) => {
    if (part.field === fileField) {
      parts.fileCount += 1;
      if (parts.fileCount > 1 || queryUrl !== undefined) return;
      const stored = await storeSource(env.MEDIA, identity, part.chunks);
      parts.file = { title: part.filename || identity.assetId, ...stored };
    } else if (part.field === "transcript") {
      parts.transcript = await readSmallPart(part, LIMITS.transcriptBytes);
    } else if (part.field === "metadata_str") {
      parts.metadata = await readSmallPart(part, LIMITS.fieldBytes);
    }
  });
  if (fields.has(fileField)) parts.fileError = missingFileError(fileField, fields);
  const formUrl = fields.get(`${identity.assetType}_url`);
  if (formUrl !== undefined) parts.urls.push(formUrl);
  const transcript = fields.get("transcript");
  parts.encoding = fields.get("transcript_encoding");
  if (transcript) {
    parts.transcript = new TextEncoder().encode(transcript);
    parts.isTranscriptText = true;
  }
  parts.metadata ??= fields.get("metadata_str") ?? "";
  return parts;
}

/**
 * Parses metadata and transcript, and requires either a file or a URL that may be fetched. Throws
 * all issues together.
 */
async function parseParts(parts: RequestParts, assetType: AssetType, allowedHosts: string) {
  const issues: ValidationIssue[] = [];
  const collect = async <T>(parse: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await parse();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      issues.push(...error.issues);
      return undefined;
    }
  };
  const metadata = await collect(() => parseMetadata(parts.metadata ?? ""));
  const label = await collect(() => parseEncodingLabel(parts.encoding));
  const encoding = parts.isTranscriptText ? "utf-8" : label;
  const transcript =
    parts.transcript && (await collect(() => parseTranscriptPart(parts.transcript!, encoding)));
  const [url] = parts.urls;
  const sourceCount = parts.fileCount + parts.urls.length;
  if (url !== undefined) {
    const part = parts.isUrlInForm ? "body" : "query";
    await collect(() => requireUrl([part, `${assetType}_url`], url.trim(), allowedHosts));
  }
  if (parts.fileError) issues.push(...parts.fileError.issues);
  else if (sourceCount === 0) issues.push(...fileOrUrlError(assetType, "missing").issues);
  else if (sourceCount > 1) issues.push(...fileOrUrlError(assetType, "value_error").issues);
  if (issues.length > 0) throw new ValidationError(issues);
  return { metadata: metadata!, transcript };
}

const withMetadata = z.object({ metadata_str: userMetadata });

function parseMetadata(source: string | Uint8Array): JsonObject {
  const text = source.length === 0 ? "{}" : source;
  const issues: ValidationIssue[] = [];
  const value = { metadata_str: parseJson(text, ["body", "metadata_str"]) ?? {} };
  const valid = validate("body", withMetadata, value, issues);
  if (!valid) throw new ValidationError(issues);
  return valid.metadata_str;
}

function requireUrl(loc: string[], url: string, allowed: string): void {
  try {
    requirePublicUrl(url, allowed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const type = URL.canParse(url) ? "value_error" : "url_parsing";
    throw invalid(loc, type, error.message);
  }
}

/** Error for a request with neither a file nor a URL (`missing`), or with more than one. */
function fileOrUrlError(assetType: AssetType, type: "missing" | "value_error"): ValidationError {
  const [file, url] = [`${assetType}_file`, `${assetType}_url`];
  const message = type === "missing" ? `Give ${file} or ${url}` : `Give only one ${file} or ${url}`;
  return invalid(["body", file], type, message);
}
