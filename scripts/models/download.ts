import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { ModelFile } from "./registry.ts";
import { digestFile, fileSize, partPath } from "./shelf.ts";

/** Time without data after which a connection counts as dead. */
const IDLE_TIMEOUT_MS = 30_000;
/** Pauses before each retry; progress restarts the sequence. */
const RETRY_PAUSES_MS = [500, 1_000, 2_000, 4_000];
/** Error codes of established connections that broke. */
const BROKEN_CONNECTION_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The server cannot be reached. */
export class UnreachableError extends Error {}

/** An error that a retry may fix. */
class TransientError extends Error {}

export interface Download {
  url: string;
  target: string;
  file: ModelFile;
  /** Gets the number of bytes downloaded so far. */
  onProgress: (downloaded: number) => void;
  /** Aborts; the next run resumes. */
  signal: AbortSignal;
}

/**
 * Downloads a file to `target`, where it appears only complete and with the right SHA-256. Resumes
 * the partial file of an earlier run. Throws `UnreachableError`, the signal's reason or a readable
 * error.
 */
export async function downloadFile(download: Download): Promise<void> {
  const { url, target, file, signal } = download;
  const part = partPath(target);
  const first = await getResumeOffset(part, file);
  let retryCount = 0;
  for (let downloaded = first; downloaded < file.bytes;) {
    const error = await fetchRemaining(download, part, downloaded).catch((error: unknown) => error);
    signal.throwIfAborted();
    const previousOffset = downloaded;
    downloaded = (await fileSize(part)) ?? 0;
    if (error === undefined) continue;
    if (downloaded > previousOffset) retryCount = 0;
    const pause = RETRY_PAUSES_MS[retryCount++];
    const neverReached = error instanceof UnreachableError && downloaded === first;
    const isTransient = error instanceof TransientError || error instanceof UnreachableError;
    if (!isTransient || neverReached) throw error;
    if (pause === undefined) {
      throw new Error(`${error.message} Pull again to resume from here.`, { cause: error });
    }
    await wait(pause, undefined, { signal });
  }
  if ((await fileSize(part)) !== file.bytes || (await digestFile(part)) !== file.sha256) {
    await rm(part, { force: true });
    throw new Error(`${url} has another SHA-256 than listed, and was deleted.`);
  }
  await rename(part, target);
}

/** Returns the size of the partial file; deletes one that is too long. */
async function getResumeOffset(part: string, file: ModelFile): Promise<number> {
  const downloaded = (await fileSize(part)) ?? 0;
  if (downloaded <= file.bytes) return downloaded;
  await rm(part);
  return 0;
}

/** Requests the bytes after the first `downloaded` ones and appends them. */
async function fetchRemaining(download: Download, part: string, downloaded: number): Promise<void> {
  const { url, file, onProgress } = download;
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
  try {
    const signal = AbortSignal.any([download.signal, idle.signal]);
    const response = await request(url, downloaded, signal);
    const range = response.headers.get("content-range") ?? "";
    const isResumed = response.status === 206 && range.startsWith(`bytes ${downloaded}-`);
    if (!isResumed && response.status !== 200) {
      await response.body?.cancel();
      await rm(part, { force: true });
      throw new TransientError(`${url} can't be resumed.`);
    }
    let end = isResumed ? downloaded : 0;
    const countBytes = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        timer.refresh();
        end += chunk.length;
        if (end > file.bytes) throw new Error(`${url} is longer than listed.`);
        onProgress(end);
        yield chunk;
      }
    };
    const output = createWriteStream(part, { flags: end === 0 ? "w" : "a" });
    await pipeline(readBody(response), countBytes, output);
    if (end < file.bytes) throw new TransientError(`${url} ended early.`);
  } catch (error) {
    if (!idle.signal.aborted) throw error;
    const seconds = IDLE_TIMEOUT_MS / 1000;
    throw new TransientError(`${new URL(url).host} sent nothing for ${seconds} seconds.`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a request; returns a response of status 200, 206 or 416. */
async function request(url: string, downloaded: number, signal: AbortSignal): Promise<Response> {
  const headers = {
    "accept-encoding": "identity",
    ...(downloaded > 0 && { range: `bytes=${downloaded}-` }),
  };
  const response = await fetch(url, { headers, signal }).catch((cause: unknown) => {
    const code = readCode(cause instanceof Error ? cause.cause : cause);
    const message = `${new URL(url).host} can't be reached${code && ` (${code})`}.`;
    throw BROKEN_CONNECTION_CODES.has(code)
      ? new TransientError(message, { cause })
      : new UnreachableError(message, { cause });
  });
  const { status } = response;
  if (status === 200 || status === 206 || status === 416) return response;
  await response.body?.cancel();
  const isTransient = status >= 500 || status === 429 || status === 408;
  const message = `${url} can't be downloaded: the server answered ${status}.`;
  throw isTransient ? new TransientError(message) : new Error(message);
}

async function* readBody({ url, body }: Response): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    throw new TransientError(`The connection to ${new URL(url).host} broke.`, { cause });
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
