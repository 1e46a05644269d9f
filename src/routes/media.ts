import { AppError, invalid } from "../errors.ts";
import { evaluateConditions, isRangeCurrent, parseRange } from "../http/conditional-request.ts";
import { contentDisposition, withExtension } from "../http/content-disposition.ts";
import { type Context, meterRequest } from "../http/context.ts";
import { createRouter, jsonResponse } from "../http/endpoint.ts";
import { resizeImage, decodeJpeg, encodeJpeg } from "../media/pixels/jpeg.ts";
import { keySecrets, verifyMediaToken } from "../signed-token.ts";
import { getObject, headObject, isKeyframe } from "../store/r2/object-keys.ts";

/** Routes of stored files, by the signed URLs in API responses. OpenAPI doesn't document them. */
export const mediaRoutes = createRouter();

mediaRoutes.get("/media/:token/:name", (c) => getMedia(c));

/** Width of small thumbnails in pixels: what a card shows. */
const SMALL_WIDTH = 320;

/**
 * Serves a stored file or a byte range of it. With `?download`, browsers save the file. With
 * `?width=320`, a thumbnail is small.
 */
async function getMedia(c: Context): Promise<Response> {
  const { headers: sent, method } = c.req.raw;
  const file = await requireFile(c);
  const width = c.req.query("width");
  if (width !== undefined && !/^\d+$/.test(width)) {
    throw invalid(["query", "width"], "int_parsing", "Input should be pixels, such as 320");
  }
  if (width === `${SMALL_WIDTH}` && isKeyframe(file.key)) return getSmall(c, file);
  const validators = { etag: file.httpEtag, modifiedAt: file.uploaded };
  const name = withExtension(c.req.param("name")!, file.httpMetadata?.contentType);
  const type = c.req.query("download") === undefined ? "inline" : "attachment";
  const headers = new Headers(mediaHeaders(file));
  headers.set("content-disposition", contentDisposition(type, name));
  const condition = evaluateConditions(sent, validators);
  if (condition === 304) return new Response(null, { status: 304, headers });
  if (condition === 412) throw new AppError("precondition_failed", "The file has changed.");
  const allowsRange = method === "GET" && isRangeCurrent(sent, validators);
  const range = allowsRange ? parseRange(sent.get("range"), file.size) : "whole";
  if (range === "unsatisfiable") {
    const detail = `The range is outside the file, which has ${file.size} bytes.`;
    return jsonResponse({ detail }, 416, { "content-range": `bytes */${file.size}` });
  }
  const isWhole = range === "whole";
  const { offset, length } = isWhole ? { offset: 0, length: file.size } : range;
  headers.set("content-length", String(length));
  if (!isWhole) headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${file.size}`);
  const status = isWhole ? 200 : 206;
  if (method === "HEAD") return new Response(null, { status, headers });
  const object = await getObject(c.env.MEDIA, file.key, isWhole ? undefined : range);
  if (!object) throw mediaNotFound();
  return new Response(object.body, { status, headers });
}

/** Serves a thumbnail scaled down in this isolate. On a custom domain, it is cached for a day. */
async function getSmall({ env, executionCtx, req }: Context, file: R2Object): Promise<Response> {
  const headers = new Headers(mediaHeaders(file));
  const etag = file.httpEtag.replace(/"$/, `-${SMALL_WIDTH}"`);
  headers.set("etag", etag);
  headers.set("accept-ranges", "none");
  const condition = evaluateConditions(req.raw.headers, { etag, modifiedAt: file.uploaded });
  if (condition === 304) return new Response(null, { status: 304, headers });
  const cacheUrl = new URL(`/cache/thumbnails/${file.etag}/${file.key}`, req.url).href;
  const cached = await caches.default.match(cacheUrl);
  if (cached) return new Response(cached.body, { headers });
  const object = await getObject(env.MEDIA, file.key);
  if (!object) throw mediaNotFound();
  const jpeg = await object.bytes();
  const small = await decodeJpeg(jpeg, (image) => {
    const height = Math.max(1, Math.round((image.height * SMALL_WIDTH) / image.width));
    return image.width > SMALL_WIDTH ? resizeImage(image, { width: SMALL_WIDTH, height }) : null;
  });
  const bytes = small ? await encodeJpeg(small) : jpeg;
  const copy = new Response(bytes, { headers: { "cache-control": "max-age=86400" } });
  executionCtx.waitUntil(caches.default.put(cacheUrl, copy));
  return new Response(bytes, { headers });
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

function mediaNotFound(): AppError {
  const message = "The media URL has expired or its file is missing; get a new URL from the API.";
  return new AppError("not_found", message);
}
