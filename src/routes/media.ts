import { AppError } from "../errors.ts";
import { keySecrets, verifyMediaKey } from "../keys.ts";
import { disposition, withEnding } from "./attachment.ts";
import { evaluate, isRangeCurrent } from "./conditions.ts";
import { createRouter, json } from "./endpoint.ts";

/**
 * Stored bytes for browsers, by the signed URLs of our responses; not part of the JSON contract. With
 * `?download` they are to be saved.
 */
export const mediaRoutes = createRouter();

mediaRoutes.get("/media/:token/:name", async (c) => {
  const key = await verifyMediaKey(keySecrets(c.env), c.req.param("token"));
  const head = key && (await c.env.MEDIA.head(key));
  if (!head) throw leadsNowhere();
  const { headers: asked, method } = c.req.raw;
  const validators = { etag: head.httpEtag, modifiedAt: head.uploaded };
  const headers = new Headers(mediaHeaders(head));
  const type = c.req.query("download") === undefined ? "inline" : "attachment";
  const name = withEnding(c.req.param("name"), head.httpMetadata?.contentType);
  headers.set("content-disposition", disposition(type, name));
  const condition = evaluate(asked, validators);
  if (condition === 304) return new Response(null, { status: 304, headers });
  if (condition === 412) {
    throw new AppError("precondition_failed", "The file is another than the one you have.");
  }
  const isPart = method === "GET" && isRangeCurrent(asked, validators);
  const range = isPart ? parseRange(asked.get("range"), head.size) : "whole";
  if (range === "unsatisfiable") return beyond(head.size);
  const part = range === "whole" ? { offset: 0, length: head.size } : range;
  headers.set("content-length", String(part.length));
  if (range !== "whole") {
    const last = part.offset + part.length - 1;
    headers.set("content-range", `bytes ${part.offset}-${last}/${head.size}`);
  }
  const status = range === "whole" ? 200 : 206;
  if (method === "HEAD") return new Response(null, { status, headers });
  const object = await c.env.MEDIA.get(head.key, range === "whole" ? {} : { range });
  if (!object) throw leadsNowhere();
  return new Response(object.body, { status, headers });
});

/** What a browser's own page for a picture or a video needs, and no more. */
const SANDBOX =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";

/** Strangers' files: they do nothing where they are shown, and any page may show them. */
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

function beyond(size: number): Response {
  const response = json({ detail: `The file has ${size} bytes; ask for some of them.` }, 416);
  response.headers.set("content-range", `bytes */${size}`);
  return response;
}

function leadsNowhere(): AppError {
  const message = "The media URL has expired or leads nowhere; ask the API anew.";
  return new AppError("not_found", message);
}

type Range = "whole" | "unsatisfiable" | { offset: number; length: number };

/** A single byte range (RFC 9110, section 14); what is malformed or several is passed over, as it allows. */
export function parseRange(header: string | null, size: number): Range {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (!first && !last) return "whole";
  if (!first) {
    const length = Math.min(Number(last), size);
    return length > 0 ? { offset: size - length, length } : "unsatisfiable";
  }
  const offset = Number(first);
  const end = last ? Math.min(Number(last) + 1, size) : size;
  if (last && Number(last) < offset) return "whole";
  return offset < size ? { offset, length: end - offset } : "unsatisfiable";
}
