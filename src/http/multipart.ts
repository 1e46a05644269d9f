import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { LIMITS } from "../config.ts";
import { AppError, invalid, type ValidationError } from "../errors.ts";

const MAX_PARTS = { fields: 20, files: 5 } as const;
const MAX_BODY_BYTES = LIMITS.uploadBytes + LIMITS.jsonBytes;

/** A file part of a multipart body, streamed as it arrives. */
export interface FormFile {
  field: string;
  filename: string;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads a multipart body part by part without buffering it: `onFile` must consume each file before
 * the next one arrives. Resolves to the text fields. Throws `unsupported_media_type`, `bad_request`
 * (malformed or cut off), `too_large`, and what `onFile` throws.
 *
 * Parsing stops at the first error. The error is thrown after the rest of the body was read and
 * discarded, up to `LIMITS.drainBytes` and `LIMITS.drainMs`: many clients don't read a response
 * while they are still sending.
 */
export async function readForm(
  request: Request,
  onFile: (file: FormFile) => Promise<void>,
): Promise<Map<string, string>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new AppError("unsupported_media_type", "Send the upload as multipart/form-data.");
  }
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw bodyTooLarge();
  const fields = new Map<string, string>();
  const parser = openParser({ "content-type": type });
  const failures: unknown[] = [];
  let reading: Promise<void> = Promise.resolve();
  let current: Readable | undefined;
  parser.on("error", (cause) => failures.push(malformedBody(cause)));
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) failures.push(partTooLarge(name, LIMITS.fieldBytes));
    fields.set(name, value);
  });
  for (const kind of ["fields", "files"] as const) {
    parser.on(`${kind}Limit`, () => failures.push(tooMany(kind)));
  }
  parser.on("file", (field, stream, filename) => {
    current = stream;
    stream.on("error", () => undefined); // the reader gets it, too
    const chunks: AsyncIterable<Uint8Array> = stream.iterator({ destroyOnReturn: false });
    reading = reading
      .then(() => (failures.length === 0 ? onFile({ field, filename, chunks }) : undefined))
      .catch((error: unknown) => void failures.push(error))
      .then(() => void stream.resume());
  });
  try {
    await feedParser(request, parser, failures);
  } catch (error) {
    failures.push(error);
  }
  // Rejects the pending read of `onFile`: no more of its file will come.
  if (failures.length > 0) current?.destroy(new Error("the upload was interrupted"));
  await reading;
  if (failures.length > 0) throw failures[0];
  return fields;
}

/** Writes the body to the parser. Once there is a failure, discards the rest. */
async function feedParser(
  request: Request,
  parser: BusboyInstance,
  failures: unknown[],
): Promise<void> {
  let [bytes, drainedBytes, drainUntil] = [0, 0, Infinity];
  for await (const chunk of readChunks(request)) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge();
    if (failures.length > 0 || parser.destroyed) {
      drainedBytes += chunk.length;
      drainUntil = Math.min(drainUntil, Date.now() + LIMITS.drainMs);
      if (drainedBytes > LIMITS.drainBytes || Date.now() > drainUntil) return;
      continue;
    }
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (!parser.write(buffer)) await waitForEvent(parser, "drain");
  }
  if (failures.length > 0 || parser.destroyed) return;
  const finished = waitForEvent(parser, "finish");
  parser.end();
  await finished;
  if (!parser.writableFinished && failures.length === 0) throw malformedBody("no end");
}

/** Yields the chunks of the body. Throws `bad_request` if the connection breaks. */
async function* readChunks(request: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* request.body ?? [];
  } catch (cause) {
    throw malformedBody(cause);
  }
}

/** Waits for an event or an error. `readForm` listens for errors and records them. */
async function waitForEvent(parser: BusboyInstance, event: string): Promise<void> {
  await once(parser, event).catch(() => undefined);
}

function openParser(headers: BusboyHeaders): BusboyInstance {
  try {
    return new Busboy({ headers, limits: { fieldSize: LIMITS.fieldBytes, ...MAX_PARTS } });
  } catch (cause) {
    throw malformedBody(cause);
  }
}

function malformedBody(cause: unknown): AppError {
  return new AppError("bad_request", "The multipart body is malformed or was cut off.", { cause });
}

function bodyTooLarge(): AppError {
  return new AppError("too_large", "The upload is larger than the limit for one file.");
}

function partTooLarge(name: string, maxBytes: number): AppError {
  return new AppError("too_large", `The part "${name}" is larger than ${maxBytes} bytes.`);
}

function tooMany(kind: keyof typeof MAX_PARTS): AppError {
  return new AppError("too_large", `The form has more than ${MAX_PARTS[kind]} ${kind}.`);
}

/** Reads a small part into memory. Throws `too_large` past `maxBytes`. */
export async function readSmallPart(file: FormFile, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.chunks) {
    size += chunk.length;
    if (size > maxBytes) throw partTooLarge(file.field, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the error for a missing file part: the part is absent, or it is a text field. */
export function missingFileError(field: string, fields: Map<string, string>): ValidationError {
  const loc = ["body", field];
  return fields.has(field)
    ? invalid(loc, "value_error", "Expected a file, got text: name a filename")
    : invalid(loc, "missing", "Field required");
}
