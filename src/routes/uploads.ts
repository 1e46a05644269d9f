import { z } from "@hono/zod-openapi";
import { AppError, type Failure, failureOf } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { OFFSET_OCTET_STREAM, requireTusVersion } from "../http/tus.ts";
import { completeUpload } from "../lifecycle/complete-upload.ts";
import { pageOpenUploads } from "../store/d1/upload-lists.ts";
import { getUpload, type Upload } from "../store/d1/uploads.ts";
import { removeUpload } from "../store/stored-uploads.ts";
import { indexParams } from "./records/index-record.ts";
import {
  offsetHeaders,
  toUploadRecord,
  uploadHeaders,
  uploadParams,
  uploadRecord,
} from "./records/upload-record.ts";
import { continueUpload, createUpload } from "./upload-requests.ts";

/** Routes of resumable uploads by the tus protocol (docs/uploads.md). */
export const uploadRoutes = createRouter("Resumable uploads");

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

addEndpoint(
  uploadRoutes,
  {
    method: "post",
    path: "/index/{index_name}/uploads",
    operationId: "createUpload",
    summary: "Start a resumable upload",
    description:
      "Starts an upload of any size by the protocol tus 1.0, for which there are clients in most " +
      "languages. The response's `Location` is the URL of the upload. A body is its first bytes. " +
      "docs/uploads.md has examples.",
    errors: {
      ...TUS_ERRORS,
      account_full: "The account's storage or its bytes of records are used up.",
    },
    scope: "write",
    params: indexParams,
    headers: z.object({
      ...version,
      ...checksum,
      "upload-length": header("Length of the file in bytes."),
      "upload-defer-length": header("`1` if the length will be sent later."),
      "upload-metadata": header(
        "Comma-separated pairs of a key, a space and a value in base64. `filename` sets the " +
          "asset's title and `metadata_str` (JSON) its metadata.",
      ),
    }),
    binaryMediaType: OFFSET_OCTET_STREAM,
    bodyOptional: true,
    status: 201,
  },
  createIndexUpload,
);

async function createIndexUpload(c: Context, { params }: Input<typeof indexParams>) {
  const index = await requireCallerIndex(c, params.index_name);
  requireTusVersion(c);
  const upload = await createUpload(c, index);
  const url = new URL(c.req.url);
  const location = `${url.origin}${url.pathname}/${upload.uploadId}`;
  const headers = { Location: location, ...offsetHeaders(upload) };
  return new Response(null, { status: 201, headers });
}

addEndpoint(
  uploadRoutes,
  {
    method: "get",
    path: "/index/{index_name}/uploads",
    operationId: "listUploads",
    summary: "List unfinished uploads",
    description: "Lists the uploads of an index that haven't become an asset and haven't expired.",
    scope: "write",
    params: indexParams,
    query: pageQuery,
    response: pageOf("uploads", uploadRecord),
  },
  listIndexUploads,
);

async function listIndexUploads(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof pageQuery>,
) {
  const { indexId } = await requireCallerIndex(c, params.index_name);
  const page = await pageOpenUploads(c.env.DB, indexId, pageRequest(query), Date.now());
  const uploads = page.items.map((upload) => toUploadRecord(upload));
  return { uploads, total: page.total, next_cursor: nextCursor(page) };
}

addEndpoint(
  uploadRoutes,
  {
    method: "get",
    path: "/index/{index_name}/uploads/{upload_id}",
    operationId: "getUpload",
    summary: "Get an upload",
    description:
      "Returns how much of an upload was received and, at the end, its asset. HEAD returns tus's " +
      "headers `Upload-Offset` and `Upload-Length`.",
    errors: { gone: UPLOAD_EXPIRED },
    scope: "write",
    params: uploadParams,
    response: uploadRecord,
  },
  getCallerUpload,
);

/** Handles GET with a record, and tus's HEAD with headers. */
async function getCallerUpload(c: Context, { params }: Input<typeof uploadParams>) {
  const stored = await requireCallerUpload(c, params);
  if (c.req.method === "HEAD") requireTusVersion(c);
  const { upload, error } = await completeIfReceived(c.env, stored);
  if (c.req.method !== "HEAD") return toUploadRecord(upload, error);
  return new Response(null, { headers: uploadHeaders(upload) });
}

/** Contract of a request that appends bytes. */
const appendRequest = {
  scope: "write",
  params: uploadParams,
  headers: z.object({
    ...version,
    ...checksum,
    "upload-offset": header("Byte at which the request body continues the file."),
    "upload-length": header("Length of the file in bytes, if it was deferred."),
  }),
  binaryMediaType: OFFSET_OCTET_STREAM,
  status: 204,
  errors: {
    ...TUS_ERRORS,
    gone: UPLOAD_EXPIRED,
    conflict: "`Upload-Offset` isn't where the upload ends, or another request is writing to it.",
    account_full: "The account's storage or its bytes of records are used up.",
  },
} as const;

addEndpoint(
  uploadRoutes,
  {
    ...appendRequest,
    method: "patch",
    path: "/index/{index_name}/uploads/{upload_id}",
    operationId: "continueUpload",
    summary: "Send bytes of an upload",
    description:
      "Appends bytes at `Upload-Offset`. The last ones complete the upload, which becomes an asset " +
      "and is ingested. After a broken connection, ask for the offset by HEAD and go on from there.",
  },
  continueCallerUpload,
);

async function continueCallerUpload(c: Context, { params }: Input<typeof uploadParams>) {
  return appendBytes(c, await requireCallerUpload(c, params));
}

addEndpoint(
  uploadRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/uploads/{upload_id}",
    operationId: "deleteUpload",
    summary: "Delete an unfinished upload",
    description: "Deletes an upload and the bytes that were received (tus's termination).",
    errors: { ...TUS_ERRORS, gone: UPLOAD_EXPIRED },
    headers: z.object(version),
    scope: "write",
    params: uploadParams,
    status: 204,
  },
  terminateCallerUpload,
);

async function terminateCallerUpload(c: Context, { params }: Input<typeof uploadParams>) {
  return terminateUpload(c, await requireCallerUpload(c, params));
}

addEndpoint(
  uploadRoutes,
  {
    ...appendRequest,
    method: "post",
    path: "/index/{index_name}/uploads/{upload_id}",
    operationId: "overrideUpload",
    summary: "Continue or delete an upload by POST",
    description:
      "Does what `X-HTTP-Method-Override` says, for clients that can't send PATCH or DELETE.",
    headers: appendRequest.headers.extend({
      "x-http-method-override": header("`PATCH` or `DELETE`: the method to use instead of POST."),
    }),
    bodyOptional: true,
  },
  overrideUploadMethod,
);

/** Serves clients that can't send PATCH or DELETE (tus's X-HTTP-Method-Override). */
async function overrideUploadMethod(c: Context, { params }: Input<typeof uploadParams>) {
  const upload = await requireCallerUpload(c, params);
  const method = c.req.header("x-http-method-override")?.toUpperCase();
  if (method === "PATCH") return appendBytes(c, upload);
  if (method === "DELETE") return terminateUpload(c, upload);
  throw new AppError("bad_request", "Send the header X-HTTP-Method-Override: PATCH or DELETE.");
}

async function requireCallerUpload(
  c: Context,
  params: z.output<typeof uploadParams>,
): Promise<Upload> {
  const { indexId } = await requireCallerIndex(c, params.index_name);
  const upload = await getUpload(c.env.DB, indexId, params.upload_id);
  if (!upload) {
    throw new AppError("not_found", `There is no upload "${params.upload_id}" in this index.`);
  }
  if (upload.expiresAt <= Date.now()) {
    throw new AppError("gone", "This upload has expired; start a new one.");
  }
  return upload;
}

async function appendBytes(c: Context, upload: Upload): Promise<Response> {
  requireTusVersion(c);
  const updated = await continueUpload(c, upload);
  return new Response(null, { status: 204, headers: offsetHeaders(updated) });
}

async function terminateUpload(c: Context, upload: Upload): Promise<Response> {
  requireTusVersion(c);
  await removeUpload(c.env, upload);
  return new Response(null, { status: 204 });
}

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
    const isRetryable = error instanceof AppError && RETRYABLE_ERRORS.has(error.code);
    if (!isRetryable) throw error;
    return { upload, error: failureOf(error) };
  }
}

const RETRYABLE_ERRORS = new Set([
  "limit_reached",
  "cost_limit_reached",
  "account_full",
  "deployment_full",
]);
