import { z } from "@hono/zod-openapi";
import type { Failure } from "../../errors.ts";
import { anyObject } from "../../http/json-object.ts";
import type { Upload } from "../../store/d1/uploads.ts";
import { ASSET_TYPES } from "../../types.ts";
import { failureRecord, idField, orNull, time } from "./fields.ts";
import { indexParams, isoTime } from "./index-record.ts";

const uploadId = idField("upload", "Id of the upload.");

export const uploadParams = indexParams.extend({ upload_id: uploadId });

export const uploadRecord = z
  .object({
    upload_id: uploadId,
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    state: z
      .enum(["open", "received", "complete"])
      .describe("`open`: bytes are missing. `received`: all are there. `complete`: it is an asset.")
      .openapi({ example: "open" }),
    offset: z.int().describe("Bytes that were received.").openapi({ example: 10_485_760 }),
    length: z
      .int()
      .nullable()
      .describe("Length of the file in bytes; null while it is deferred.")
      .openapi({ example: 734_003_200 }),
    filename: z
      .string()
      .nullable()
      .describe("File name, which becomes the title; null if none was sent.")
      .openapi({ example: "kitchen.mp4" }),
    metadata: anyObject(),
    asset_id: z
      .string()
      .nullable()
      .describe("Id of the asset that the upload became; null before.")
      .openapi({ example: null }),
    asset_type: z
      .enum(ASSET_TYPES)
      .nullable()
      .describe("Kind of the asset; null until known.")
      .openapi({ example: "video" }),
    duplicate: z
      .boolean()
      .nullable()
      .describe("Whether the index had these bytes already; null before the end.")
      .openapi({ example: null }),
    error: orNull(failureRecord, "Why a received upload isn't an asset; null otherwise.").openapi({
      example: null,
    }),
    created_at: time("Creation of the upload."),
    updated_at: time("Last change of the record."),
    expires_at: time("When an incomplete upload is deleted."),
  })
  .openapi("Upload", { description: "A resumable upload." });

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
