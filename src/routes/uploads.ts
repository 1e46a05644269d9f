import { AppError, type Failure, failureOf } from "../errors.ts";
import { mapRecord } from "../field-names.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import { type Context, withWaitUntil } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import {
  failureRecord,
  flag,
  idField,
  int,
  oneOf,
  orNull,
  text,
  time,
  anyObject,
} from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import {
  OFFSET_OCTET_STREAM,
  readChecksum,
  readCreation,
  readOffset,
  requireOffsetOctetStream,
  requireTusVersion,
} from "../http/tus.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import { type Checksum, receiveBytes } from "../ingest/upload-writer.ts";
import { completeUpload } from "../lifecycle/create-asset.ts";
import {
  getUpload,
  insertUpload,
  lockUpload,
  pageOpenUploads,
  type Upload,
  removeUpload,
} from "../store/d1/uploads.ts";
import { ASSET_TYPES, type MediaIndexRow } from "../types.ts";

/** Routes of resumable uploads by the tus protocol (docs/uploads.md). */
export const uploadRoutes = createRouter("Resumable uploads");

const uploadId = idField("upload", "Id of the upload.");

const uploadRecord = z
  .object({
    upload_id: uploadId,
    index_name: text("Name of the index.", "holidays"),
    state: oneOf(
      ["open", "received", "complete"],
      "`open`: bytes are missing. `received`: all are there. `complete`: it is an asset.",
      "open",
    ),
    offset: int("Bytes that were received.", 10_485_760),
    length: int("Length of the file in bytes.", 734_003_200),
    filename: text("File name, which becomes the title; null without.", "kitchen.mp4").nullable(),
    metadata: anyObject(),
    asset_id: text("Id of the asset that the upload became; null before.", null).nullable(),
    asset_type: oneOf(ASSET_TYPES, "Kind of the asset; null until known.", "video").nullable(),
    duplicate: flag(
      "Whether the index had these bytes before; null until the end.",
      null,
    ).nullable(),
    error: orNull(failureRecord, "Why a received upload isn't an asset; null otherwise.", null),
    created_at: time("Creation of the upload."),
    updated_at: time("Last change of the record."),
    expires_at: time("When an incomplete upload is deleted."),
  })
  .openapi("Upload", { description: "A resumable upload." });

/** Converts an upload. `error` says why a fully received upload hasn't become an asset. */
function toUploadRecord(upload: Upload, error: Failure | null): z.input<typeof uploadRecord> {
  const { resultAssetId, target } = upload;
  return mapRecord(uploadRecord, upload, {
    state: resultAssetId !== null ? "complete" : upload.sha256 !== null ? "received" : "open",
    offset: upload.received,
    filename: upload.title,
    asset_id: resultAssetId,
    asset_type: target?.assetType ?? null,
    duplicate: resultAssetId === null ? null : resultAssetId !== target?.assetId,
    error,
  });
}

const header = (description: string) => z.string().optional().describe(description);
const version = {
  "tus-resumable": header(
    "Version of the tus protocol: `1.0.0`. Required, else the status is 412.",
  ),
};
const checksum = {
  "upload-checksum": header(
    "Checksum of the request body: `sha1`, `sha256` or `md5`, a space and the digest in base64.",
  ),
};

const TUS_ERRORS = {
  bad_request: "Headers contradict each other, or ask for what isn't supported.",
  precondition_failed: "The header `Tus-Resumable` isn't `1.0.0`.",
  unsupported_media_type:
    "The body isn't `application/offset+octet-stream`, or the file is neither video nor image.",
  checksum_mismatch: "The body doesn't have the checksum: nothing was stored.",
} as const;
const UPLOAD_EXPIRED = "The upload has expired. Start a new one.";

addEndpoint(uploadRoutes, "POST /index/{index_name}/uploads", {
  operationId: "createUpload",
  summary: "Start a resumable upload",
  description:
    "Starts an upload of any size by the protocol tus 1.0, for which there are clients in most " +
    "languages. The response's `Location` is the URL of the upload. A body is its first bytes. " +
    "docs/uploads.md has examples.",
  errors: TUS_ERRORS,
  headers: z.object({
    ...version,
    ...checksum,
    "upload-length": header("Length of the file in bytes."),
    "upload-metadata": header(
      "Comma-separated pairs of a key, a space and a value in base64. `filename` sets the " +
        "asset's title and `metadata_str` (JSON) its metadata.",
    ),
  }),
  binaryMediaType: OFFSET_OCTET_STREAM,
  bodyOptional: true,
  status: 201,
  async handle(c) {
    const index = await requireCallerIndex(c);
    requireTusVersion(c);
    const upload = await createUpload(c, index);
    const { origin, pathname } = new URL(c.req.url);
    const headers = {
      Location: `${origin}${pathname}/${upload.uploadId}`,
      ...offsetHeaders(upload),
    };
    return new Response(null, { status: 201, headers });
  },
});

addEndpoint(uploadRoutes, "GET /index/{index_name}/uploads", {
  operationId: "listUploads",
  summary: "List unfinished uploads",
  description: "Lists the uploads of an index that haven't become an asset and haven't expired.",
  scope: "write",
  query: pageQuery,
  response: pageOf("uploads", uploadRecord),
  async handle(c, { query }) {
    const { indexId } = await requireCallerIndex(c);
    const page = await pageOpenUploads(c.env.DB, indexId, pageRequest(query), Date.now());
    return pageRecord("uploads", page, (upload) => toUploadRecord(upload, null));
  },
});

addEndpoint(uploadRoutes, "GET /index/{index_name}/uploads/{upload_id}", {
  operationId: "getUpload",
  summary: "Get an upload",
  description:
    "Returns how much of an upload was received and, at the end, its asset. HEAD returns tus's " +
    "headers `Upload-Offset` and `Upload-Length`.",
  errors: { gone: UPLOAD_EXPIRED },
  scope: "write",
  response: uploadRecord,
  async handle(c, { params }) {
    const stored = await requireCallerUpload(c, params);
    if (c.req.method === "HEAD") requireTusVersion(c);
    const { upload, error } = await completeIfReceived(c.env, stored);
    if (c.req.method !== "HEAD") return toUploadRecord(upload, error);
    return new Response(null, { headers: uploadHeaders(upload) });
  },
});

addEndpoint(uploadRoutes, "PATCH /index/{index_name}/uploads/{upload_id}", {
  operationId: "continueUpload",
  summary: "Send bytes of an upload",
  description:
    "Appends bytes at `Upload-Offset`. The last ones complete the upload, which becomes an asset " +
    "and is ingested. After a broken connection, ask for the offset by HEAD and go on from there.",
  headers: z.object({
    ...version,
    ...checksum,
    "upload-offset": header("Byte at which the request body continues the file."),
  }),
  binaryMediaType: OFFSET_OCTET_STREAM,
  status: 204,
  errors: {
    ...TUS_ERRORS,
    gone: UPLOAD_EXPIRED,
    conflict: "`Upload-Offset` isn't where the upload ends, or another request is writing to it.",
  },
  async handle(c, { params }) {
    return appendBytes(c, await requireCallerUpload(c, params));
  },
});

addEndpoint(uploadRoutes, "DELETE /index/{index_name}/uploads/{upload_id}", {
  operationId: "deleteUpload",
  summary: "Delete an unfinished upload",
  description: "Deletes an upload and the bytes that were received (tus's termination).",
  errors: { ...TUS_ERRORS, gone: UPLOAD_EXPIRED },
  headers: z.object(version),
  status: 204,
  async handle(c, { params }) {
    const upload = await requireCallerUpload(c, params);
    requireTusVersion(c);
    await removeUpload(c.env, upload);
    return new Response(null, { status: 204 });
  },
});

/** Returns the upload of a path. Of an expired one, "the Server SHOULD respond with … 410 Gone". */
async function requireCallerUpload(
  c: Context,
  params: Record<"index_name" | "upload_id", string>,
): Promise<Upload> {
  const { indexId } = await requireCallerIndex(c);
  const upload = await getUpload(c.env.DB, indexId, params.upload_id);
  if (!upload) {
    throw new AppError("not_found", `There is no upload "${params.upload_id}" in this index.`);
  }
  if (upload.expiresAt <= Date.now()) {
    throw new AppError("gone", "This upload has expired; start a new one.");
  }
  return upload;
}

/**
 * Creates an upload and receives the bytes of the same request, if any (tus's
 * creation-with-upload). Removes it if these are cut off: the client never gets its URL, and so
 * can't resume. Throws as `receiveBytes` does.
 */
async function createUpload(c: Context, { indexId, accountId }: MediaIndexRow): Promise<Upload> {
  const creation = readCreation(c);
  const hasBody = c.req.raw.body !== null && c.req.header("content-length") !== "0";
  if (hasBody) requireOffsetOctetStream(c);
  const digest = hasBody ? readChecksum(c) : null;
  if (hasBody) requireFit(c, creation.length, 0);
  const uploadId = newId("upl");
  await insertUpload(c.env.DB, { uploadId, indexId, accountId, ...creation }, Date.now());
  const upload = await getUpload(c.env.DB, indexId, uploadId);
  if (!upload) throw new AppError("not_found", "The index was deleted meanwhile.");
  if (!hasBody) return upload;
  const received = receive(c, upload, digest).catch(async (error: unknown) => {
    await removeUpload(c.env, upload);
    throw error;
  });
  return withWaitUntil(
    c,
    received.then((each) => completeUpload(c.env, each)),
  );
}

/**
 * Appends bytes at the upload's offset: tus's PATCH. With the last byte the upload becomes an
 * asset. Throws as `receiveBytes` and `completeUpload` do.
 */
async function appendBytes(c: Context, upload: Upload): Promise<Response> {
  requireTusVersion(c);
  requireOffsetOctetStream(c);
  const offset = readOffset(c);
  const digest = readChecksum(c);
  // "If the offsets do not match, the Server MUST respond with the 409 Conflict status".
  if (offset !== upload.received) throw offsetConflict(`The upload is at byte ${upload.received}`);
  requireFit(c, upload.length, offset);
  const receiveAndComplete = async () =>
    completeUpload(c.env, upload.sha256 === null ? await receive(c, upload, digest) : upload);
  const updated = await withWaitUntil(c, receiveAndComplete());
  return new Response(null, { status: 204, headers: offsetHeaders(updated) });
}

/** Throws `too_large` if `Content-Length` exceeds what is missing of `length` bytes. */
function requireFit(c: Context, length: number, received: number): void {
  const bodyBytes = Number(c.req.header("content-length") ?? 0);
  if (received + bodyBytes <= length) return;
  const message = `Only ${length - received} bytes of this upload are still to come.`;
  throw new AppError("too_large", message);
}

async function receive(c: Context, upload: Upload, digest: Checksum | null): Promise<Upload> {
  const locked = await lockUpload(c.env.DB, upload, crypto.randomUUID());
  if (!locked) throw offsetConflict("The upload's offset has changed");
  return receiveBytes(c.env, locked, c.req.raw.body ?? [], digest);
}

function offsetConflict(reason: string): AppError {
  return new AppError("conflict", `${reason}: get it with HEAD, and continue from there.`);
}

const RETRYABLE_ERRORS = new Set([
  "limit_reached",
  "cost_limit_reached",
  "account_full",
  "deployment_full",
]);

/**
 * Completes a fully received upload whose last request was cut off before the upload became an
 * asset. Errors that a later request may resolve are returned instead of thrown.
 */
async function completeIfReceived(
  env: Env,
  upload: Upload,
): Promise<{ upload: Upload; error: Failure | null }> {
  try {
    return { upload: await completeUpload(env, upload), error: null };
  } catch (error) {
    if (!(error instanceof AppError && RETRYABLE_ERRORS.has(error.code))) throw error;
    return { upload, error: failureOf(error) };
  }
}

function offsetHeaders(upload: Upload): Record<string, string> {
  return {
    "Upload-Offset": String(upload.received),
    "Upload-Expires": new Date(upload.expiresAt).toUTCString(),
    "Cache-Control": "no-store",
  };
}

function uploadHeaders(upload: Upload): Record<string, string> {
  const { length, uploadMetadata } = upload;
  return {
    ...offsetHeaders(upload),
    "Upload-Length": String(length),
    ...(uploadMetadata !== "" && { "Upload-Metadata": uploadMetadata }),
  };
}
