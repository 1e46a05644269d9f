import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { LIMITS } from "../config.ts";
import { AppError, invalid, type ValidationError } from "../errors.ts";

const MOST = { fields: 20, files: 5 } as const;
const MAX_BODY_BYTES = LIMITS.uploadBytes + LIMITS.jsonBytes;

/** A file part of a multipart body, while it arrives. */
export interface FormFile {
  field: string;
  filename: string;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads a multipart body part by part, in the order it comes, holding none of it: `onFile` must
 * consume each file before the next arrives. Resolves to the plain fields. Throws
 * `unsupported_media_type`, `bad_request` (not multipart after all, cut off), `too_large`, and what
 * `onFile` throws: after the rest of the body was let pass, since many clients don't listen for an
 * answer while they still send.
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
  parser.on("error", (cause) => failures.push(malformed(cause)));
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) failures.push(partTooLarge(name, LIMITS.fieldBytes));
    fields.set(name, value);
  });
  for (const kind of ["fields", "files"] as const) {
    parser.on(`${kind}Limit`, () => failures.push(tooMany(kind)));
  }
  parser.on("file", (field, stream, filename) => {
    current = stream;
    const chunks: AsyncIterable<Uint8Array> = stream.iterator({ destroyOnReturn: false });
    reading = reading
      .then(() => (failures.length === 0 ? onFile({ field, filename, chunks }) : undefined))
      .catch((error: unknown) => void failures.push(error))
      .then(() => void stream.resume());
  });
  try {
    await feed(request, parser, failures);
  } catch (error) {
    failures.push(error);
    current?.destroy(new Error("the upload broke off")); // wakes who is reading it
  }
  await reading;
  if (failures.length > 0) throw failures[0];
  return fields;
}

/** Sends the body through the parser, or, once that has failed, nowhere. */
async function feed(request: Request, parser: BusboyInstance, failures: unknown[]): Promise<void> {
  let bytes = 0;
  for await (const chunk of arriving(request)) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge();
    if (parser.errored || parser.destroyed) continue;
    const bytesOfChunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (!parser.write(bytesOfChunk)) await settled(parser, "drain");
  }
  if (parser.errored || parser.destroyed) return;
  const finished = settled(parser, "finish");
  parser.end();
  await finished;
  if (!parser.writableFinished && failures.length === 0) throw malformed("no end");
}

/** The body's chunks; a connection that breaks off is a malformed body. */
async function* arriving(request: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* request.body ?? [];
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Waits for an event, or for the error that comes in its place and is heard elsewhere. */
async function settled(parser: BusboyInstance, event: string): Promise<void> {
  await once(parser, event).catch(() => undefined);
}

function openParser(headers: BusboyHeaders): BusboyInstance {
  try {
    return new Busboy({ headers, limits: { fieldSize: LIMITS.fieldBytes, ...MOST } });
  } catch (cause) {
    throw malformed(cause);
  }
}

function malformed(cause: unknown): AppError {
  return new AppError("bad_request", "The multipart body is malformed or was cut off.", { cause });
}

function bodyTooLarge(): AppError {
  return new AppError("too_large", "The upload is larger than the limit for one file.");
}

function partTooLarge(name: string, maxBytes: number): AppError {
  return new AppError("too_large", `The part "${name}" is larger than ${maxBytes} bytes.`);
}

function tooMany(kind: keyof typeof MOST): AppError {
  return new AppError("too_large", `The form has more than ${MOST[kind]} ${kind}.`);
}

/** All of a small part. Throws `too_large` past `maxBytes`. */
export async function readSmall(file: FormFile, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.chunks) {
    size += chunk.length;
    if (size > maxBytes) throw partTooLarge(file.field, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What is wrong where a file part isn't there: it was left out, or is text. */
export function missingFile(field: string, fields: Map<string, string>): ValidationError {
  const loc = ["body", field];
  return fields.has(field)
    ? invalid(loc, "value_error", "Expected a file, got text: name a filename")
    : invalid(loc, "missing", "Field required");
}
