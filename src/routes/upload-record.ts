import { z } from "@hono/zod-openapi";
import type { Failure } from "../errors.ts";
import type { Upload } from "../store/uploads.ts";
import { ASSET_TYPES } from "../types.ts";
import { indexParams, isoTime } from "./index-record.ts";
import { anyObject } from "../http/json-object.ts";

export const uploadParams = indexParams.extend({ upload_id: z.string() });

export const uploadRecord = z
  .object({
    upload_id: z.string(),
    index_name: z.string(),
    state: z.enum(["open", "received", "complete"]),
    offset: z.int(),
    length: z.int().nullable(),
    filename: z.string().nullable(),
    metadata: anyObject(),
    asset_id: z.string().nullable(),
    asset_type: z.enum(ASSET_TYPES).nullable(),
    duplicate: z.boolean().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .openapi("Upload");

/** Converts an upload. `error` says why a fully received upload hasn't become an asset. */
export function toUploadRecord(
  upload: Upload,
  error: Failure | null = null,
): z.input<typeof uploadRecord> {
  const { resultAssetId, target } = upload;
  return {
    upload_id: upload.uploadId,
    index_name: upload.indexName,
    state: resultAssetId !== null ? "complete" : upload.sha256 !== null ? "received" : "open",
    offset: upload.received,
    length: upload.length,
    filename: upload.title,
    metadata: upload.metadata,
    asset_id: resultAssetId,
    asset_type: target?.assetType ?? null,
    duplicate: resultAssetId === null ? null : resultAssetId !== target?.assetId,
    error,
    created_at: isoTime(upload.createdAt),
    updated_at: isoTime(upload.updatedAt),
    expires_at: isoTime(upload.expiresAt),
  };
}

/** Returns tus's headers for the progress of an upload. */
export function offsetHeaders(upload: Upload): Record<string, string> {
  return {
    "Upload-Offset": String(upload.received),
    "Upload-Expires": new Date(upload.expiresAt).toUTCString(),
    "Cache-Control": "no-store",
  };
}

/** Returns all of tus's headers for an upload. */
export function uploadHeaders(upload: Upload): Record<string, string> {
  const { length, uploadMetadata } = upload;
  return {
    ...offsetHeaders(upload),
    ...(length === null ? { "Upload-Defer-Length": "1" } : { "Upload-Length": String(length) }),
    ...(uploadMetadata !== "" && { "Upload-Metadata": uploadMetadata }),
  };
}
