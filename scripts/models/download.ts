import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { ModelFile } from "./registry.ts";
import { digestFile, fileSize, partPath } from "./shelf.ts";

/** Nothing came for this long: the connection is dead. */
const SILENCE_MS = 30_000;
/** Before each further try; after a byte that came, the row begins anew. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000];
/** Of connections that were there and broke. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The other side can't be reached. */
export class Unreachable extends Error {}

/** Something that another try may mend. */
class Passing extends Error {}

export interface Download {
  url: string;
  target: string;
  file: ModelFile;
  /** Told how many bytes of the file are here, as they come. */
  onBytes: (held: number) => void;
  /** Aborts, and leaves what has come to the next run. */
  signal: AbortSignal;
}

/**
 * Brings a file to `target`, where it appears only whole and with the right SHA-256. Goes on with
 * what an earlier run left. Throws `Unreachable`, the signal's reason or another error to be read.
 */
export async function downloadFile(download: Download): Promise<void> {
  const { url, target, file, signal } = download;
  const part = partPath(target);
  const first = await startOf(part, file);
  let tries = 0;
  for (let held = first; held < file.bytes;) {
    const error = await fetchRest(download, part, held).catch((error: unknown) => error);
    signal.throwIfAborted();
    const before = held;
    held = (await fileSize(part)) ?? 0;
    if (error === undefined) continue;
    if (held > before) tries = 0;
    const pause = PAUSES_MS[tries++];
    const hopeless = error instanceof Unreachable && held === first;
    const passing = error instanceof Passing || error instanceof Unreachable;
    if (!passing || hopeless) throw error;
    if (pause === undefined) {
      throw new Error(`${error.message} Pull again to go on from here.`, { cause: error });
    }
    await wait(pause, undefined, { signal });
  }
  if ((await fileSize(part)) !== file.bytes || (await digestFile(part)) !== file.sha256) {
    await rm(part, { force: true });
    throw new Error(`${url} is another file than it should be (SHA-256), and was deleted.`);
  }
  await rename(part, target);
}

/** How many bytes are here to go on from. */
async function startOf(part: string, file: ModelFile): Promise<number> {
  const held = (await fileSize(part)) ?? 0;
  if (held <= file.bytes) return held;
  await rm(part);
  return 0;
}

/** One request for what is missing after `held` bytes. */
async function fetchRest(download: Download, part: string, held: number): Promise<void> {
  const { url, file, onBytes } = download;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const signal = AbortSignal.any([download.signal, silence.signal]);
    const response = await request(url, held, signal);
    const range = response.headers.get("content-range") ?? "";
    const goesOn = response.status === 206 && range.startsWith(`bytes ${held}-`);
    if (!goesOn && response.status !== 200) {
      await response.body?.cancel();
      await rm(part, { force: true });
      throw new Passing(`${url} can't be gone on with.`);
    }
    let end = goesOn ? held : 0;
    const count = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        timer.refresh();
        end += chunk.length;
        if (end > file.bytes) throw new Error(`${url} is longer than it should be.`);
        onBytes(end);
        yield chunk;
      }
    };
    const output = createWriteStream(part, { flags: end === 0 ? "w" : "a" });
    await pipeline(readBody(response), count, output);
    if (end < file.bytes) throw new Passing(`${url} ended early.`);
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    const seconds = SILENCE_MS / 1000;
    throw new Passing(`${new URL(url).host} said nothing for ${seconds} seconds.`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Status 200, 206 or 416. */
async function request(url: string, held: number, signal: AbortSignal): Promise<Response> {
  const headers = { "accept-encoding": "identity", ...(held > 0 && { range: `bytes=${held}-` }) };
  const response = await fetch(url, { headers, signal }).catch((cause: unknown) => {
    const code = readCode(cause instanceof Error ? cause.cause : cause);
    const message = `${new URL(url).host} can't be reached${code && ` (${code})`}.`;
    throw BROKEN.has(code) ? new Passing(message, { cause }) : new Unreachable(message, { cause });
  });
  const { status } = response;
  if (status === 200 || status === 206 || status === 416) return response;
  await response.body?.cancel();
  const again = status >= 500 || status === 429 || status === 408;
  const message = `${url} can't be had: the server answered ${status}.`;
  throw again ? new Passing(message) : new Error(message);
}

async function* readBody({ url, body }: Response): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    throw new Passing(`The connection to ${new URL(url).host} broke.`, { cause });
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
