import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { ignoreAfterUse } from "../ignored-errors.ts";
import { validate } from "./validation.ts";

/** `parts` also counts parts that are neither, such as one without a name. */
const MAX_PARTS = { fields: 20, files: 5, parts: 25 } as const;
/** Bytes that are parsed at once. A larger chunk is divided, so that parsing stops soon. */
const MAX_PARSED_BYTES = 16 * 1024;
const MAX_BODY_BYTES = LIMITS.uploadBytes + LIMITS.jsonBytes;

/** A file part of a multipart body, streamed as it arrives. */
export interface FormFile {
  field: string;
  /** Without folders, and with the characters that forms escape. */
  filename: string;
  chunks: AsyncIterable<Uint8Array>;
}

/** Whether the body of a request is a multipart form. */
export function isFormRequest({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
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
  if (!isFormRequest(request)) {
    throw new AppError("unsupported_media_type", "Send the upload as multipart/form-data.");
  }
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw bodyTooLarge();
  const fields = new Map<string, string>();
  const parser = openParser({ "content-type": type });
  const body = request.body?.getReader();
  const failures: unknown[] = [];
  let reading: Promise<void> = Promise.resolve();
  let current: Readable | undefined;
  parser.on("error", (cause) => failures.push(malformedBody(cause)));
  parser.on("field", (name, value, _nameCut, valueCut) => {
    if (valueCut) failures.push(partTooLarge(name, LIMITS.fieldBytes));
    fields.set(name, value);
  });
  for (const kind of ["fields", "files", "parts"] as const) {
    parser.on(`${kind}Limit`, () => failures.push(tooMany(kind)));
  }
  parser.on("file", (field, stream, filename) => {
    current = stream;
    stream.on("error", () => undefined); // the reader gets it, too
    const chunks: AsyncIterable<Uint8Array> = stream.iterator({ destroyOnReturn: false });
    reading = reading
      .then(() =>
        failures.length === 0
          ? onFile({ field, filename: unescapeFilename(filename), chunks })
          : undefined,
      )
      .catch((error: unknown) => void failures.push(error))
      .then(() => void stream.resume());
  });
  try {
    await feedParser(body, parser, failures);
  } catch (error) {
    failures.push(error);
  }
  // Rejects the pending read of `onFile`: no more of its file will come.
  if (failures.length > 0) current?.destroy(new Error("the upload was interrupted"));
  await discardBody(body);
  await reading;
  if (failures.length > 0) throw failures[0];
  return fields;
}

/** Characters that browsers escape in a form (HTML standard, 4.10.21.8). They escape no `%`. */
const ESCAPES: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };

function unescapeFilename(name: string): string {
  return name.replaceAll(/%(?:22|0D|0A)/g, (escape) => ESCAPES[escape]!);
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** Writes the body to the parser, until the form ends or there is a failure. */
async function feedParser(
  body: BodyReader | undefined,
  parser: BusboyInstance,
  failures: unknown[],
): Promise<void> {
  const isOver = () => failures.length > 0 || parser.destroyed;
  let bytes = 0;
  for (let chunk = await readChunk(body); chunk; chunk = await readChunk(body)) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge();
    for (let start = 0; start < chunk.length; start += MAX_PARSED_BYTES) {
      const slice = toBuffer(chunk.subarray(start, start + MAX_PARSED_BYTES));
      if (!parser.write(slice)) await waitForEvent(parser, "drain");
      if (isOver()) return;
    }
  }
  if (isOver()) return;
  const finished = waitForEvent(parser, "finish");
  parser.end();
  await finished;
  if (!parser.writableFinished && failures.length === 0) throw malformedBody("no end");
}

/** Reads a chunk; undefined at the end. Throws `bad_request` if the connection breaks. */
async function readChunk(body: BodyReader | undefined): Promise<Uint8Array | undefined> {
  try {
    return (await body?.read())?.value;
  } catch (cause) {
    throw malformedBody(cause);
  }
}

/** Reads and discards the rest of a body, up to `LIMITS.drainBytes` and `LIMITS.drainMs`. */
async function discardBody(body: BodyReader | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LIMITS.drainMs);
  });
  try {
    for (let bytes = 0; bytes <= LIMITS.drainBytes;) {
      const chunk = await Promise.race([readChunk(body), timeout]);
      if (!chunk) break;
      bytes += chunk.length;
    }
  } catch {
    // The connection broke: there is nothing more to discard.
  } finally {
    clearTimeout(timer);
    body?.cancel().catch(ignoreAfterUse);
  }
}

/** Waits for an event or an error. */
async function waitForEvent(parser: BusboyInstance, event: string): Promise<void> {
  await once(parser, event).catch(ignoreRecorded);
}

/** Ignores an error of the parser: `readForm` listens for errors and records them. */
function ignoreRecorded(): void {}

/** Views bytes as a `Buffer`, without a copy. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
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

/** Placeholder for a file part: its bytes are streamed, only its presence is validated. */
const FILE = Symbol("a file");

/** Schema of a file part. */
export function formFile() {
  return z
    .custom<typeof FILE>((value) => value === FILE, "Expected a file, got text: name a filename")
    .openapi({ type: "string", format: "binary" });
}

/** Schema of a part that may be a file or text. */
export function formFileOrText() {
  return z
    .custom<typeof FILE | string>((value) => value === FILE || typeof value === "string")
    .openapi({ type: "string", format: "binary" });
}

/**
 * Parses the text fields of a form. Throws `ValidationError` for these, for missing files, and for
 * parameters of `query` that are sent in the form.
 */
export function requireFields<Form extends z.ZodObject>(
  form: Form,
  fields: Map<string, string>,
  fileNames: readonly string[],
  query: z.ZodObject = z.object({}),
): z.output<Form> {
  const issues = misplacedParameters(form, fields, query);
  const isFile = (name: string) => form.shape[name]?.safeParse(FILE).success ?? false;
  const fileFields = fileNames.filter(isFile).map((name) => [name, FILE]);
  const values = { ...Object.fromEntries(fields), ...Object.fromEntries(fileFields) };
  const read = validate("body", form, values, issues);
  if (!read || issues.length > 0) throw new ValidationError(issues);
  return read;
}

function misplacedParameters(
  form: z.ZodObject,
  fields: Map<string, string>,
  query: z.ZodObject,
): ValidationIssue[] {
  const isMisplaced = (name: string) =>
    Object.hasOwn(query.shape, name) && !Object.hasOwn(form.shape, name);
  return [...fields.keys()].filter(isMisplaced).map((name) => ({
    loc: ["body", name],
    type: "value_error",
    msg: `Value error, send ${name} in the query string`,
  }));
}

/**
 * Collects the issues of a form whose request is already invalid. Returns none if the body is
 * larger than `LIMITS.jsonBytes`, because the response would wait for the upload, or if it is
 * malformed.
 */
export async function collectFormIssues(
  request: Request,
  form: z.ZodObject,
  query: z.ZodObject,
): Promise<ValidationIssue[]> {
  const size = Number(request.headers.get("content-length") ?? Infinity);
  if (size > LIMITS.jsonBytes) return [];
  const fileNames: string[] = [];
  try {
    requireFields(
      form,
      await readForm(request, async ({ field }) => void fileNames.push(field)),
      fileNames,
      query,
    );
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    if (error instanceof AppError) return [];
    throw error;
  }
}
