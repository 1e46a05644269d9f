import { keySecrets } from "../config.ts";
import { AppError } from "../errors.ts";
import { verifyMediaKey } from "../keys.ts";
import { createRouter } from "./endpoint.ts";

/** Stored bytes for browsers, by the signed URLs of our responses; not part of the JSON contract. */
export const mediaRoutes = createRouter();

mediaRoutes.get("/media/:token/:name", async (c) => {
  const key = await verifyMediaKey(keySecrets(c.env), c.req.param("token"));
  const { headers: asked } = c.req.raw;
  const object = key && (await c.env.MEDIA.get(key, { range: asked, onlyIf: asked }));
  if (!object) {
    throw new AppError(
      "not_found",
      "The media URL has expired or leads nowhere; ask the API anew.",
    );
  }
  const headers = new Headers({
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=3600",
    etag: object.httpEtag,
    "last-modified": object.uploaded.toUTCString(),
  });
  object.writeHttpMetadata(headers);
  if (!("body" in object)) return new Response(null, { status: 304, headers });
  const range = rangeOf(object, asked.has("range"));
  headers.set("content-length", String(range?.length ?? object.size));
  if (range) headers.set("content-range", contentRange(range, object.size));
  return new Response(object.body, { status: range ? 206 : 200, headers });
});

interface Range {
  offset: number;
  length: number;
}

function rangeOf(object: R2Object, asked: boolean): Range | undefined {
  if (!asked || !object.range) return undefined;
  if ("suffix" in object.range) {
    const length = Math.min(object.range.suffix, object.size);
    return { offset: object.size - length, length };
  }
  const offset = object.range.offset ?? 0;
  return { offset, length: object.range.length ?? object.size - offset };
}

function contentRange({ offset, length }: Range, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`;
}
