import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { splitPath } from "../asset-names.ts";
import { LIMITS } from "../config.ts";
import { AppError, invalid, ValidationError, type ValidationIssue } from "../errors.ts";
import { ignoreAfterUse } from "../ignored-errors.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import type { Context } from "./context.ts";
import { validate } from "./validation.ts";
import * as z from "./zod.ts";

/** `parts` also counts parts that are neither, such as one without a name. */
const MAX_PARTS = { fields: 20, files: 5, parts: 25 } as const;
/** Bytes that are parsed at once. A larger chunk is divided, so that parsing stops soon. */
const MAX_PARSED_BYTES = 16 * 1024;
const MAX_BODY_BYTES = LIMITS.uploadBytes + LIMITS.jsonBytes;

/** A file part of a multipart body, streamed as it arrives. */
interface FormFile {
  field: string;
  /** Without folders, and with the characters that forms escape. */
  filename: string;
  /** Its folder, with `/`; empty without one. */
  folder: string;
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
  const parser = openParser(type);
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
    const message = `The form has more than ${MAX_PARTS[kind]} ${kind}.`;
    parser.on(`${kind}Limit`, () => failures.push(new AppError("too_large", message)));
  }
  parser.on("file", (field, stream, filename) => {
    current = stream;
    stream.on("error", () => undefined); // the reader gets it, too
    const chunks: AsyncIterable<Uint8Array> = stream.iterator({ destroyOnReturn: false });
    const { name, folder } = splitPath(unescapeFilename(filename));
    const file = { field, filename: name, folder, chunks };
    reading = reading
      .then(() => (failures.length === 0 ? onFile(file) : undefined))
      .catch((error: unknown) => void failures.push(error))
      .then(() => void stream.resume());
  });
  await feedParser(body, parser, failures).catch((error: unknown) => failures.push(error));
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
      const { buffer, byteOffset, byteLength } = chunk.subarray(start, start + MAX_PARSED_BYTES);
      const slice = Buffer.from(buffer, byteOffset, byteLength); // without a copy
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

function openParser(type: string): BusboyInstance {
  try {
    const limits = { fieldSize: LIMITS.fieldBytes, ...MAX_PARTS };
    return new Busboy({ headers: { "content-type": type }, limits, preservePath: true });
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
  const issues: ValidationIssue[] = [];
  for (const name of fields.keys()) {
    if (!Object.hasOwn(query.shape, name) || Object.hasOwn(form.shape, name)) continue;
    const msg = `Value error, send ${name} in the query string`;
    issues.push({ loc: ["body", name], type: "value_error", msg });
  }
  const isFile = (name: string) => form.shape[name]?.safeParse(FILE).success ?? false;
  const fileFields = fileNames.filter(isFile).map((name) => [name, FILE]);
  const values = { ...Object.fromEntries(fields), ...Object.fromEntries(fileFields) };
  const read = validate("form", form, values, issues);
  if (!read || issues.length > 0) throw new ValidationError(issues);
  return read;
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
    const fields = await readForm(request, async ({ field }) => void fileNames.push(field));
    requireFields(form, fields, fileNames, query);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    if (error instanceof AppError) return [];
    throw error;
  }
}

/**
 * Reads a form with an image, up to `LIMITS.imageBytes`, and its fields, of which some have
 * defaults. Parameters of `query` mustn't be in it.
 */
export async function readImageForm<Form extends z.ZodObject>(
  c: Context,
  form: Form,
  query?: z.ZodObject,
  defaults: Record<string, string> = {},
): Promise<z.output<Form> & { image: Uint8Array }> {
  const images: Uint8Array[] = [];
  const parts = await readForm(c.req.raw, async (part) => {
    if (part.field === "image_file") images.push(await readSmallPart(part, LIMITS.imageBytes));
  });
  const sent = new Map([...Object.entries(defaults), ...parts]);
  const fileNames = images.map(() => "image_file");
  const fields = requireFields(form, sent, fileNames, query);
  const image = images.at(-1)!;
  await requireMediaType(image.subarray(0, HEAD_BYTES), "image");
  return { ...fields, image };
}

/** Rethrows errors about an uploaded image as a `ValidationError`, and others unchanged. */
export function throwImageAsInvalid(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}
