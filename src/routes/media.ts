import { AppError } from "../errors.ts";
import {
  evaluateConditions,
  isRangeCurrent,
  type ByteRange,
  parseRange,
} from "../http/conditional-request.ts";
import { contentDisposition, withExtension } from "../http/content-disposition.ts";
import type { Context } from "../http/context.ts";
import { createRouter, jsonResponse } from "../http/endpoint.ts";
import { meterRequest } from "../http/metering.ts";
import { verifyMediaToken } from "../media-token.ts";
import { keySecrets } from "../signed-token.ts";
import { getObject, headObject } from "../store/r2/object-keys.ts";

/** Routes of stored files, by the signed URLs in API responses. OpenAPI doesn't document them. */
export const mediaRoutes = createRouter();

mediaRoutes.get("/media/:token/:name", (c) => getMedia(c));

/** Serves a stored file or a byte range of it. With `?download`, browsers save the file. */
async function getMedia(c: Context): Promise<Response> {
  const { headers: requestHeaders, method } = c.req.raw;
  const file = await requireFile(c);
  const validators = { etag: file.httpEtag, modifiedAt: file.uploaded };
  const headers = new Headers(mediaHeaders(file));
  headers.set("content-disposition", fileDisposition(c, file));
  const status = evaluateConditions(requestHeaders, validators);
  if (status === 304) return new Response(null, { status, headers });
  if (status === 412) throw new AppError("precondition_failed", "The file has changed.");
  const allowsRange = method === "GET" && isRangeCurrent(requestHeaders, validators);
  const range = allowsRange ? parseRange(requestHeaders.get("range"), file.size) : "whole";
  if (range === "unsatisfiable") return unsatisfiableRange(file.size);
  return sendFile(c, file, range, headers);
}

/** Verifies the URL's token and returns the metadata of its file. Throws `not_found`. */
async function requireFile(c: Context): Promise<R2Object> {
  const media = await verifyMediaToken(keySecrets(c.env), c.req.param("token")!);
  if (!media) throw mediaNotFound();
  meterRequest(c, media.accountId);
  const file = await headObject(c.env.MEDIA, media.key);
  if (!file) throw mediaNotFound();
  return file;
}

function fileDisposition(c: Context, { httpMetadata }: R2Object): string {
  const type = c.req.query("download") === undefined ? "inline" : "attachment";
  return contentDisposition(type, withExtension(c.req.param("name")!, httpMetadata?.contentType));
}

async function sendFile(
  c: Context,
  { key, size }: R2Object,
  range: Exclude<ByteRange, "unsatisfiable">,
  headers: Headers,
): Promise<Response> {
  const isWhole = range === "whole";
  const { offset, length } = isWhole ? { offset: 0, length: size } : range;
  headers.set("content-length", String(length));
  if (!isWhole) headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${size}`);
  const status = isWhole ? 200 : 206;
  if (c.req.method === "HEAD") return new Response(null, { status, headers });
  const object = await getObject(c.env.MEDIA, key, isWhole ? undefined : range);
  if (!object) throw mediaNotFound();
  return new Response(object.body, { status, headers });
}

/** Allows what a browser's built-in viewer of images and videos needs, and nothing else. */
const SANDBOX =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";

/** Headers of untrusted files: they can't run scripts, and any page may embed them. */
function mediaHeaders({ httpEtag, uploaded, httpMetadata }: R2Object): Record<string, string> {
  return {
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=3600",
    "content-security-policy": SANDBOX,
    "content-type": httpMetadata?.contentType ?? "application/octet-stream",
    "cross-origin-resource-policy": "cross-origin",
    etag: httpEtag,
    "last-modified": uploaded.toUTCString(),
  };
}

function unsatisfiableRange(size: number): Response {
  const detail = `The range is outside the file, which has ${size} bytes.`;
  const response = jsonResponse({ detail }, 416);
  response.headers.set("content-range", `bytes */${size}`);
  return response;
}

function mediaNotFound(): AppError {
  const message = "The media URL has expired or its file is missing; get a new URL from the API.";
  return new AppError("not_found", message);
}
