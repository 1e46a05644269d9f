import { z } from "@hono/zod-openapi";
import {
  type CreatedAsset,
  createAsset,
  type AssetIdentity,
  newAsset,
  quotaFor,
} from "../lifecycle/create-asset.ts";
import { purgeAsset } from "../lifecycle/purge.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { newId } from "../ids.ts";
import { storeSource } from "../ingest/steps/fetch.ts";
import { requireQuota } from "../store/quotas.ts";
import type { StoredStream } from "../store/streams.ts";
import type { AssetType, JsonObject, MediaIndexRow } from "../types.ts";
import { type FormFile, readForm, readSmallPart, missingFileError } from "../http/multipart.ts";
import { userMetadata } from "../http/json-object.ts";
import { parseTranscriptPart } from "./transcript-part.ts";
import { validate, parseJson } from "../http/validation.ts";

/** Parts of a request that adds an asset, unparsed but for the stored file. */
interface RequestParts {
  file?: StoredStream & { title: string };
  /** URLs in the query string and in the form. */
  urls: string[];
  isUrlInForm: boolean;
  /** How many files were sent. Only the first is stored, and none beside a URL in the query. */
  fileCount: number;
  transcript?: Uint8Array;
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
export async function addAsset(
  env: Env,
  request: Request,
  index: MediaIndexRow,
  assetType: AssetType,
  queryUrl: string | undefined,
): Promise<CreatedAsset> {
  const now = Date.now();
  const identity = {
    assetId: newId(assetType === "video" ? "vid" : "img", now),
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
    const [url] = parts.urls;
    const description = {
      title: file?.title ?? titleFromUrl(url!),
      source: url === undefined ? { kind: "upload" as const } : { kind: "url" as const, url },
      metadata,
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
  if (transcript) parts.transcript = new TextEncoder().encode(transcript);
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
  const transcript =
    parts.transcript && (await collect(() => parseTranscriptPart(parts.transcript!)));
  const [url] = parts.urls;
  const sourceCount = parts.fileCount + parts.urls.length;
  if (url !== undefined) {
    const part = parts.isUrlInForm ? "body" : "query";
    await collect(() => requireUrl([part, `${assetType}_url`], url, allowedHosts));
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

/** Returns the last path segment of a URL, decoded; the host without any. */
function titleFromUrl(url: string): string {
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast(Boolean) ?? host;
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // malformed percent encoding
  }
}
