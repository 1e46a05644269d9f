import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type LoopbackServer, startLoopback } from "../../tools/stack/loopback.ts";

const CONTENT_TYPES: Record<string, string> = {
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".mkv": "video/x-matroska",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".srt": "application/x-subrip",
  ".vtt": "text/vtt",
  ".html": "text/html; charset=utf-8",
  ".htm": "text/html",
};

/**
 * Serves the files of a folder at `/<name>`: GET, HEAD and single byte ranges (RFC 9110, section
 * 14). PUT stores a file there. `?disposition=` is the response's `Content-Disposition`.
 */
export function startFileServer(folder: string): Promise<LoopbackServer> {
  return startLoopback((request, response) => {
    respond(folder, request, response).catch(() => response.destroy());
  });
}

async function respond(folder: string, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const file = join(folder, basename(decodeURIComponent(pathname)));
  if (request.method === "PUT") {
    await pipeline(request, createWriteStream(file));
    return response.writeHead(201).end();
  }
  const stats = await stat(file).catch(() => null);
  if (!stats?.isFile()) return response.writeHead(404).end();
  const range = parseRange(request.headers.range, stats.size);
  if (range === null) {
    return response.writeHead(416, { "content-range": `bytes */${stats.size}` }).end();
  }
  const { start, end } = range ?? { start: 0, end: stats.size - 1 };
  response.writeHead(range ? 206 : 200, {
    "accept-ranges": "bytes",
    "content-length": end - start + 1,
    "content-type": CONTENT_TYPES[extname(file)] ?? "application/octet-stream",
    ...(searchParams.has("disposition") && {
      "content-disposition": searchParams.get("disposition")!,
    }),
    ...(range && { "content-range": `bytes ${start}-${end}/${stats.size}` }),
  });
  if (request.method === "HEAD" || stats.size === 0) return response.end();
  return pipeline(createReadStream(file, { start, end }), response);
}

/** Parses a `Range` header: undefined without a range, null if it can't be satisfied. */
function parseRange(header: string | undefined, size: number) {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (!parts?.[1] && !parts?.[2]) return undefined;
  const start = parts[1] ? Number(parts[1]) : Math.max(0, size - Number(parts[2]));
  const end = parts[1] && parts[2] ? Math.min(Number(parts[2]), size - 1) : size - 1;
  return start <= end ? { start, end } : null;
}
