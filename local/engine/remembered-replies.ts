import { createHash, randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { readBody } from "./body.ts";
import type { Call, Reply, Routes } from "./route.ts";

/** A larger request is always computed. */
const MAX_REQUEST_BYTES = 4_000_000;

/** Those whose reply depends on nothing but the request and the models. */
const REMEMBERED =
  /^POST \/(?:describe|ocr|objects|mask|cutout|crop|vad|v1\/embeddings|media\/\w+)$/;

type StoredReply = Exclude<Reply, { stream: unknown }>;

/**
 * Answers a request from `folder`, if an equal one was answered before. Engines with the same
 * `models` may share the folder. For tests, which ingest the same few files again and again.
 */
export function rememberReplies(routes: Routes, folder: string, models: string): Routes {
  const wrap =
    (name: string, answer: Routes[string]) =>
    async (call: Call): Promise<Reply> => {
      const length = Number(call.request.headers["content-length"] ?? Infinity);
      if (length > MAX_REQUEST_BYTES) return answer(call);
      const body = await readBody(call.request, MAX_REQUEST_BYTES);
      const hash = createHash("sha256").update(`${models}\n${name}?${call.query.toString()}\n`);
      const path = join(folder, hash.update(body).digest("hex"));
      const known = await readReply(path);
      if (known) return known;
      const reply = await answer({ ...call, request: toRequest(call.request, body) });
      if (!("stream" in reply)) await storeReply(path, reply);
      return reply;
    };
  const entries = Object.entries(routes).map(
    ([name, answer]) => [name, REMEMBERED.test(name) ? wrap(name, answer) : answer] as const,
  );
  return Object.fromEntries(entries);
}

/** A request whose body was read, to read again. */
function toRequest({ headers }: Call["request"], body: Buffer): Call["request"] {
  return Object.assign(Readable.from(body.length === 0 ? [] : [body]), { headers });
}

/** A reply is stored as a line of JSON, with its bytes behind it. */
async function storeReply(path: string, reply: StoredReply): Promise<void> {
  const { bytes, ...head } = "bytes" in reply ? reply : { ...reply, bytes: Buffer.alloc(0) };
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]));
  await rename(temporary, path);
}

async function readReply(path: string): Promise<StoredReply | null> {
  let stored: Buffer;
  try {
    stored = await readFile(path);
  } catch {
    return null;
  }
  const end = stored.indexOf("\n");
  const head: StoredReply = JSON.parse(stored.toString("utf8", 0, end));
  return "json" in head ? head : { ...head, bytes: stored.subarray(end + 1) };
}
