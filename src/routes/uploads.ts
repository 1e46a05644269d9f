import { z } from "@hono/zod-openapi";
import { finishUpload } from "../care/finish-upload.ts";
import { AppError, type Failure, failureOf } from "../errors.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { pageOpenUploads } from "../store/upload-lists.ts";
import { getUpload, type Upload } from "../store/uploads.ts";
import { continueUpload, createUpload } from "./take-upload.ts";
import { OFFSET_OCTETS, requireVersion } from "./tus.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";
import {
  offsetHeaders,
  toUploadRecord,
  uploadHeaders,
  uploadParams,
  uploadRecord,
} from "./upload-record.ts";

/** Resumable uploads: docs/uploads.md. */
export const uploadRoutes = createRouter("Resumable uploads");

const ALL = "/index/{index_name}/uploads";
const ONE = `${ALL}/{upload_id}`;

const text = (description: string) => z.string().optional().openapi({ description });
const version = { "tus-resumable": text("1.0.0; without it, 412") };
const checksum = { "upload-checksum": text("`sha1`, `sha256` or `md5`, a space, base64") };

addEndpoint(
  uploadRoutes,
  {
    method: "post",
    path: ALL,
    summary: "Create Upload",
    scope: "write",
    params: indexParams,
    headers: z.object({
      ...version,
      ...checksum,
      "upload-length": text("Bytes"),
      "upload-defer-length": text("1: the length is told later"),
      "upload-metadata": text("filename, filetype, metadata_str: each a space and base64 behind"),
    }),
    bytes: OFFSET_OCTETS,
    bodyOptional: true,
    status: 201,
  },
  async (c, { params }) => {
    const index = await requireOwnIndex(c, params.index_name);
    requireVersion(c);
    const upload = await createUpload(c, index);
    const url = new URL(c.req.url);
    const location = `${url.origin}${url.pathname}/${upload.uploadId}`;
    return new Response(null, {
      status: 201,
      headers: { Location: location, ...offsetHeaders(upload) },
    });
  },
);

addEndpoint(
  uploadRoutes,
  {
    method: "get",
    path: ALL,
    summary: "List Uploads",
    scope: "write",
    params: indexParams,
    query: pageQuery,
    response: pageOf("uploads", uploadRecord),
  },
  async (c, { params, query }) => {
    const { indexId } = await requireOwnIndex(c, params.index_name);
    const page = await pageOpenUploads(c.env.DB, indexId, pageRequest(query), Date.now());
    return {
      uploads: page.items.map((upload) => toUploadRecord(upload)),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

// HEAD, too: its answer is the protocol's.
addEndpoint(
  uploadRoutes,
  {
    method: "get",
    path: ONE,
    summary: "Get Upload",
    scope: "write",
    params: uploadParams,
    response: uploadRecord,
  },
  async (c, { params }) => {
    const found = await requireOwnUpload(c, params);
    if (c.req.method === "HEAD") requireVersion(c);
    const { upload, error } = await finishIfReceived(c.env, found);
    if (c.req.method !== "HEAD") return toUploadRecord(upload, error);
    return new Response(null, { headers: uploadHeaders(upload) });
  },
);

const patched = {
  scope: "write",
  params: uploadParams,
  headers: z.object({
    ...version,
    ...checksum,
    "upload-offset": text("How many bytes have come"),
    "upload-length": text("Bytes, where that was to be told later"),
  }),
  bytes: OFFSET_OCTETS,
  status: 204,
} as const;

addEndpoint(
  uploadRoutes,
  { ...patched, method: "patch", path: ONE, summary: "Continue Upload" },
  async (c, { params }) => goOn(c, await requireOwnUpload(c, params)),
);

addEndpoint(
  uploadRoutes,
  {
    method: "delete",
    path: ONE,
    summary: "End Upload",
    scope: "write",
    params: uploadParams,
    status: 204,
  },
  async (c, { params }) => end(c, await requireOwnUpload(c, params)),
);

/** For clients that can't send these methods. */
const OVERRIDES = new Map([
  ["PATCH", goOn],
  ["DELETE", end],
]);

addEndpoint(
  uploadRoutes,
  {
    ...patched,
    method: "post",
    path: ONE,
    summary: "Continue Or End Upload",
    headers: patched.headers.extend({ "x-http-method-override": text("PATCH or DELETE") }),
    bodyOptional: true,
  },
  async (c, { params }) => {
    const upload = await requireOwnUpload(c, params);
    const act = OVERRIDES.get(c.req.header("x-http-method-override")?.toUpperCase() ?? "");
    if (act) return act(c, upload);
    throw new AppError("bad_request", "Say X-HTTP-Method-Override: PATCH or DELETE.");
  },
);

async function requireOwnUpload(
  c: Context,
  params: z.output<typeof uploadParams>,
): Promise<Upload> {
  const { indexId } = await requireOwnIndex(c, params.index_name);
  const upload = await getUpload(c.env.DB, indexId, params.upload_id);
  if (!upload) {
    throw new AppError("not_found", `There is no upload "${params.upload_id}" in this index.`);
  }
  if (upload.expiresAt <= Date.now()) {
    throw new AppError("gone", "The time of this upload is over; begin a new one.");
  }
  return upload;
}

async function goOn(c: Context, upload: Upload): Promise<Response> {
  requireVersion(c);
  const after = await continueUpload(c, upload);
  return new Response(null, { status: 204, headers: offsetHeaders(after) });
}

async function end(c: Context, upload: Upload): Promise<Response> {
  requireVersion(c);
  await removeUpload(c.env, upload);
  return new Response(null, { status: 204 });
}

/** Of what has come whole, an asset, where the request that brought its end was cut off. */
async function finishIfReceived(
  env: Env,
  upload: Upload,
): Promise<{ upload: Upload; error: Failure | null }> {
  try {
    return { upload: await finishUpload(env, upload), error: null };
  } catch (error) {
    const canWait = error instanceof AppError && LATER.has(error.code);
    if (!canWait) throw error;
    return { upload, error: failureOf(error) };
  }
}

const LATER = new Set(["limit_reached", "account_full"]);
