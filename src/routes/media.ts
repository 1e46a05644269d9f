import { keySecrets } from "../config.ts";
import { AppError } from "../errors.ts";
import { verifyMediaKey } from "../keys.ts";
import { createRouter } from "./endpoint.ts";

/** Stored bytes for browsers, by the signed URLs of our responses; not part of the JSON contract. */
export const mediaRoutes = createRouter();

mediaRoutes.get("/media/:token/:name", async (c) => {
  const key = await verifyMediaKey(keySecrets(c.env), c.req.param("token"));
  const head = key && (await c.env.MEDIA.head(key));
  if (!head) {
    throw new AppError(
      "not_found",
      "The media URL has expired or leads nowhere; ask the API anew.",
    );
  }
  const asked = c.req.raw.headers;
  const headers = new Headers({
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=3600",
    etag: head.httpEtag,
    "last-modified": head.uploaded.toUTCString(),
  });
  head.writeHttpMetadata(headers);
  if (asked.get("if-none-match")?.split(/,\s*/).includes(head.httpEtag)) {
    return new Response(null, { status: 304, headers });
  }
  const isCurrent = [null, head.httpEtag].includes(asked.get("if-range"));
  const range = isCurrent ? parseRange(asked.get("range"), head.size) : "whole";
  if (range === "unsatisfiable") {
    return new Response(null, {
      status: 416,
      headers: { "content-range": `bytes */${head.size}` },
    });
  }
  const part = range === "whole" ? { offset: 0, length: head.size } : range;
  headers.set("content-length", String(part.length));
  if (range !== "whole") {
    const last = part.offset + part.length - 1;
    headers.set("content-range", `bytes ${part.offset}-${last}/${head.size}`);
  }
  const status = range === "whole" ? 200 : 206;
  if (c.req.method === "HEAD") return new Response(null, { status, headers });
  const object = await c.env.MEDIA.get(head.key, { range: part });
  return new Response(object!.body, { status, headers });
});

type Range = "whole" | "unsatisfiable" | { offset: number; length: number };

/** A single byte range (RFC 9110, section 14); what is malformed or several is passed over, as it allows. */
export function parseRange(header: string | null, size: number): Range {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
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
